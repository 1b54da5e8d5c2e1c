/** The versions of an assistant, which are rows of its log. */

import type { AssistantVersion } from '../../proto/gen/storage/v1/log.ts'
import type { AssistantRow } from '../../proto/gen/storage/v1/row.ts'
import { decodeRow } from '../checkpoint/index.ts'
import type { ReadAllowance } from '../limits/index.ts'
import { branchOf } from '../owned-row/index.ts'
import type { OwnedRowLog } from '../owned-row/index.ts'

/** Rows that are read together, and their bytes if there is more than one. */
const [pageRows, bytesTogether] = [10, 1024 * 1024]

/**
 * The versions up to the row's position, newest first, read a page at a time. Each row is read only
 * if the allowance has room for it.
 */
export async function* versionsBackwards(log: Pick<OwnedRowLog, 'read'>, row: AssistantRow,
  allowance?: ReadAllowance): AsyncGenerator<AssistantVersion> {
  const branch = branchOf(row, row.assistantId)
  for (let through = row.seq; through > 0;) {
    allowance?.keep(0)
    const range = { from: 1, through, reverse: true, limit: pageRows, bytes: bytesTogether }
    const page = allowance === undefined
      ? await log.read(branch, range)
      : await allowance.beside(() => log.read(branch, { ...range, bodyBytes: allowance.left }))
    for (const { body } of page) {
      for (const record of decodeRow(body)) {
        if (record.$case === 'assistantVersion') yield record.value
      }
    }
    through = (page.at(-1)?.seq ?? 1) - 1
  }
}

/** The row of a version; undefined if there is no such version. */
export async function findVersion(log: Pick<OwnedRowLog, 'read'>, row: AssistantRow,
  version: number): Promise<AssistantVersion | undefined> {
  if (version < 1 || version > row.newestVersion) return undefined
  for await (const each of versionsBackwards(log, row)) if (each.version === version) return each
  return undefined
}

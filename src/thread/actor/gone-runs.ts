/** Removes the traces of runs before the runs themselves are removed. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { RunTable } from '../../search/index.ts'
import type { ThreadPorts } from '../context/thread-context.ts'
import { planOf } from '../model/run-request.ts'

/** Ports with which the traces of removed runs are removed. */
export interface GoneRunsPorts extends Pick<ThreadPorts, 'runsGone'> {
  readonly runs: Pick<RunTable, 'list'>
}

/** Runs that are read at a time. */
const pageOf = 1_000

/**
 * Removes the traces of all runs of a thread that is deleted. Those of stateless runs stay, as
 * their threads go by themselves; `isAsked`: somebody has asked for it, so these go as well.
 */
export async function removeTracesOf({ runs, runsGone }: GoneRunsPorts, tenant: string,
  threadId: string, isAsked = false): Promise<void> {
  if (runsGone === undefined) return
  for (let offset = 0;; offset += pageOf) {
    const rows: RunRow[] = await runs.list({ tenant, threadId, limit: pageOf, offset,
      texts: ['planJson', 'metadataJson'] })
    const gone = isAsked ? rows : rows.filter((run) => !planOf(run).temporary)
    if (gone.length > 0) await runsGone(tenant, gone)
    if (rows.length < pageOf) return
  }
}

/**
 * A process that appends one row after the other until one is refused. It prints the rows that were
 * acknowledged, then what refused the next, then how many rows it reads back; and lives on.
 */

import { systemEnv } from '../../../../../cluster/index.ts'
import { openEmbeddedStore } from '../../../../../src/store/embedded/index.ts'
import { aRow, aThread } from '../../../../contract/rows.ts'

const [directory = '', id = ''] = process.argv.slice(2)
const store = await openEmbeddedStore({ directory, env: systemEnv({ level: 'silent' }) })
const branch = { id, ancestors: [] }
let acknowledged = 0
try {
  for (let seq = 1;; seq += 1) {
    const rows = [aRow({ branch, seq, body: new Uint8Array(20_000) })]
    const row = aThread({ threadId: id, branch, seq, updatedAtMs: seq })
    await store.log.append(rows, [{ table: 'thread', row }])
    acknowledged = seq
  }
} catch (error) {
  const read = await store.log.read(branch, { from: 1, through: Number.MAX_SAFE_INTEGER })
  const thread = await store.threads.get('local', id)
  console.log(
    JSON.stringify({ acknowledged, refused: (error as Error).message, read: read.length,
      updated: thread?.updatedAtMs }),
  )
}

/** Reads rows of a thread's log from one end to the other, a portion at a time. */

import type { LogEntry } from '../../checkpoint/index.ts'
import type { ThreadContext } from '../context/thread-context.ts'

/** Rows and bytes of a portion. A longer row is a portion of its own. */
const [portionRows, portionBytes] = [256, 4 * 1024 * 1024]

/** Rows of a log, both ends included. */
export interface RowSpan {
  readonly from: number
  readonly through: number
}

/** One tenant reads one thread at a time, and holds one portion of it while `take` has its rows. */
export async function readPortions({ ports: { log, reads }, threadLog, tenant }: ThreadContext,
  { from: first, through }: RowSpan, take: (rows: readonly LogEntry[]) => void,
  cancelled?: AbortSignal): Promise<void> {
  const branch = threadLog.state.row.branch!
  const leave = await reads.turn(tenant, cancelled)
  try {
    for (let from = first; from <= through;) {
      const range = { from, through, limit: portionRows, bytes: portionBytes }
      from = await reads.read({ tenant, bytes: portionBytes, cancelled }, async (allowance) => {
        const rows = await allowance.beside(() =>
          log.read(branch, { ...range, bodyBytes: allowance.left })
        )
        take(rows)
        return (rows.at(-1)?.seq ?? through) + 1
      })
      cancelled?.throwIfAborted()
    }
  } finally {
    leave()
  }
}

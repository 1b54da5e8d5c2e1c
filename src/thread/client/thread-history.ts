/** Histories of threads, slice by slice. */

import type { JsonText } from '../../checkpoint/index.ts'
import type { ReadQuota } from '../../limits/index.ts'
import type { HistoryPlace, HistorySlice, ThreadCommand } from '../model/command.ts'
import type { HistoryPart, HistoryQuery } from '../model/thread-client.ts'
import type { ThreadCalls } from './thread-calls.ts'

/** The history of a thread. Each part counts in `reads` as long as its reader uses it. */
export async function* historyOf(
  { calls, reads }: { readonly calls: ThreadCalls; readonly reads: ReadQuota },
  { tenant, id }: { readonly tenant: string; readonly id: string },
  query: HistoryQuery,
  cancelled?: AbortSignal,
): AsyncGenerator<HistoryPart, void, void> {
  let place: HistoryPlace | null = { after: null, largest: 0 }
  for (let { limit } = query; place;) {
    const command: ThreadCommand = { type: 'history', query: { ...query, limit }, from: place }
    const slice: HistorySlice | JsonText = await calls.read(tenant, id, command, cancelled)
    const states = typeof slice === 'string' ? [slice.slice(1, -1)] : slice.states
    place = typeof slice === 'string' ? null : slice.next
    using held = reads.share(tenant)
    held.hold(...states)
    yield { states: states.filter((text) => text !== ''), isLast: place === null }
    limit -= states.length
  }
}

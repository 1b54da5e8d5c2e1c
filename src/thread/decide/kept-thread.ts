/** Threads of stateless runs that outlive them, for a client that answers or comes back. Pure. */

import type { ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import type { Draft } from './decision.ts'
import { timeToLiveFrom } from './time-to-live.ts'

/** True for a hidden thread that has a time to live: it stays if somebody needs it. */
export function mayBeKept(
  { hidden, timeToLive }: Pick<ThreadRow, 'hidden' | 'timeToLive'>,
): boolean {
  return hidden && timeToLive !== undefined
}

/** Lists the thread from now on. Its time to live begins again. */
export function show(draft: Draft): void {
  const { metadataJson, configJson, timeToLive } = draft.state.row
  draft.write([{ $case: 'threadPatched',
    value: { atMs: draft.atMs, metadataJson, configJson, shown: true,
      timeToLive: timeToLiveFrom(timeToLive, draft.nowMs) } }])
}

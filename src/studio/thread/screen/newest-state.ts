/** The newest state of a thread: what it says beside its values, and the end of its messages. */

import { stateAt } from '../../api/states.ts'
import type { ThreadState } from '../../api/states.ts'
import { nowMs } from '../../env.ts'

/** The keys of the answers about a thread. */
export const keysOf = (id: string) => ({
  thread: ['thread', id] as const,
  head: ['thread', id, 'messages', 'now', 'end'] as const,
  history: ['thread', id, 'history'] as const,
  runs: ['thread', id, 'runs'] as const,
  messages: ['thread', id, 'messages'] as const,
})

/** Number of messages that are read at a time. */
export const messagePage = 50

/** The end of the messages about components, for the selection of a state. */
export const ofComponents = 'values.ui[-200:]'

const parts = ['checkpoint_id', 'parent_checkpoint_id', 'next', 'tasks.lean', 'metadata.step',
  'metadata.source', 'metadata.run_id', 'created_at', `values.messages[${-messagePage}:]`,
  ofComponents]

/** The newest state as it was at a time, or later. */
interface NewestState extends ThreadState {
  readonly askedMs: number
}

/** The state, in one call for all who show some of it. Its key is `head`. */
export async function newestState(id: string, signal: AbortSignal): Promise<NewestState> {
  const askedMs = nowMs()
  return { ...await stateAt(id, undefined, parts, signal), askedMs }
}

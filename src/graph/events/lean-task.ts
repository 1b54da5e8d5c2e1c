/** Events of the mode `tasks-lean`: a task started or ended, without any of its values. */

import type { TaskPayload } from './task-payload.ts'

/** An event of the mode `tasks-lean`. */
export interface LeanTask {
  readonly event: 'started' | 'completed' | 'failed' | 'interrupted'
  readonly id: string
  readonly name: string
}

/** A task that only starts has no result and no error yet. */
export function leanTask({ id, name, result, error, interrupts = [] }: TaskPayload): LeanTask {
  if (error != null) return { event: 'failed', id, name }
  if (result === undefined) return { event: 'started', id, name }
  return { event: interrupts.length > 0 ? 'interrupted' : 'completed', id, name }
}

/** A task, as the engine's stream mode `tasks` has it. */

import { textAt } from '../../json/index.ts'

/** A task that starts (it has an input), or its result. */
export interface TaskPayload {
  readonly id: string
  readonly name: string
  readonly input?: unknown
  readonly result?: unknown
  readonly error?: unknown
  readonly interrupts?: readonly unknown[]
  readonly metadata?: unknown
}

/** True for a chunk of that mode; the engine fills in the other members as they are described. */
export function isTask(payload: unknown): payload is TaskPayload {
  return textAt(payload, 'id') !== undefined && textAt(payload, 'name') !== undefined
}

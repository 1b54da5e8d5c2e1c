/** A task, as the engine's stream mode `tasks` has it. */

/** A task that starts (it has an input), or its result. */
export interface TaskPayload {
  readonly id: string
  readonly name: string
  readonly input?: unknown
  readonly result?: unknown
  readonly error?: unknown
  readonly interrupts?: readonly unknown[]
}

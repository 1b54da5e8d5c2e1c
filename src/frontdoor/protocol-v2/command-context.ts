/** A command of protocol v2, and what carries it out. */

import type { LongJson } from '../../json/index.ts'
import type { Caller } from '../http/caller.ts'
import type { AllowedOperations } from '../authorise/index.ts'
import type { RunCaller } from '../operations/index.ts'

/** A command of a client. Only its id is checked. */
export interface Command {
  readonly id: number
  readonly method?: unknown
  readonly params?: unknown
}

/** Sender of a command, and the operations that carry it out. */
export interface CommandContext extends Pick<AllowedOperations, 'runs' | 'threads'> {
  readonly json: Pick<LongJson, 'pick'>
  readonly caller: Caller
  readonly runCaller: RunCaller
  readonly threadId: string
  /** Makes an id for a message that came without one. */
  newId(): string
  /** Aborts when the client has left. */
  readonly left: AbortSignal
}

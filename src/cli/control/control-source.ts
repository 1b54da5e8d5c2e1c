/** Caller of a command that asks the control API. */

import type { Env } from '../../../cluster/index.ts'
import type { ProjectCommandSource } from '../project-command.ts'

/** Output of such a command, and its questions to the caller. */
export interface ControlCommandSource extends ProjectCommandSource {
  /** Its clock, by default that of this machine. */
  readonly env?: Env
  /** True if a person reads what `note` prints. */
  readonly isTerminal: boolean
  /** Reads a line that was typed without showing it, or all that was piped in. */
  readSecret(prompt: string): Promise<string>
  /** Reads a line that a person types. */
  readLine(prompt: string): Promise<string>
  /** Calls back when the caller wants the command to end, until the returned function is called. */
  interrupted(callback: () => void): () => void
}

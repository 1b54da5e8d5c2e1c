/** Who calls a command that asks the control API. */

import type { ProjectCommandSource } from '../project-command.ts'

/** Where such a command prints, and how it asks who called it. */
export interface ControlCommandSource extends ProjectCommandSource {
  /** True if a person reads what `note` prints. */
  readonly isTerminal: boolean
  /** Reads a line that was typed without showing it, or all that was piped in. */
  readSecret(prompt: string): Promise<string>
  /** Reads a line that a person types. */
  readLine(prompt: string): Promise<string>
  /** Calls back when the caller wants it to end, until the result is called. */
  interrupted(callback: () => void): () => void
}

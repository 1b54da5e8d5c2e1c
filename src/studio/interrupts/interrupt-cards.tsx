/** The questions of a thread, each as a card that a person answers. */

import type { Interrupt } from '../api/threads.ts'

/** Questions of one thread. Several are answered together. */
export interface InterruptCardsProps {
  readonly threadId: string
  readonly interrupts: readonly Interrupt[]
  /**
   * Resumes the thread with `command.resume`: the answer of one question, or answers by id. It
   * rejects with ApiError; a refusal stands on the card.
   */
  readonly answer: (resume: unknown) => Promise<void>
  /** The reason why this caller may not answer. */
  readonly refusal?: string | undefined
}

/** The cards. */
export function InterruptCards({ interrupts }: InterruptCardsProps) {
  return <pre>{JSON.stringify(interrupts, null, 2)}</pre>
}

/** Reports of one execution that no turn has taken yet. */

import type { OwnCommand } from '../model/command.ts'

/** Report of an execution: steps, and then its end or its loss. */
export type ExecutionReport = Extract<OwnCommand, { readonly type: 'steps' | 'ended' | 'lost' }>

/**
 * Keeps reports in their order. Each is a command in the mailbox of the thread too: whoever takes
 * it first handles it. So a turn that stops the execution takes what waits behind it.
 */
export class ExecutionReports {
  readonly #waiting = new Set<ExecutionReport>()
  #arrived: (() => void) | undefined
  #isClosed = false

  add(report: ExecutionReport): void {
    if (this.#isClosed) return
    this.#waiting.add(report)
    this.#arrived?.()
  }

  /** False if another turn has handled the report. */
  take(report: ExecutionReport): boolean {
    return this.#waiting.delete(report)
  }

  /** Takes the oldest report, and waits for one. Undefined after `close`. */
  async next(): Promise<ExecutionReport | undefined> {
    while (!this.#isClosed) {
      for (const report of this.#waiting) {
        this.#waiting.delete(report)
        return report
      }
      await new Promise<void>((resolve) => {
        this.#arrived = resolve
      })
    }
    return undefined
  }

  /** Nothing more is taken. */
  close(): void {
    this.#isClosed = true
    this.#arrived?.()
  }
}

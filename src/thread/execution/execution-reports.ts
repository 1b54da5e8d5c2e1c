/** Reports of one execution: each is a command, and may be taken before its turn. */

import type { ExecutionListener } from '../../graph/index.ts'
import type { ThreadContext } from '../context/thread-context.ts'
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

/** Each call becomes a command, so that it gets a turn of its own. `reports` gets it as well. */
export function executionListener(executionId: number, { notify }: ThreadContext,
  reports?: ExecutionReports): ExecutionListener {
  const report = (command: ExecutionReport) => {
    reports?.add(command)
    notify(command)
  }
  return {
    steps: (batch) => new Promise((done) => report({ type: 'steps', executionId, batch, done })),
    ended: (outcome) => report({ type: 'ended', executionId, outcome }),
    lost: (reason) => report({ type: 'lost', executionId, reason }),
  }
}

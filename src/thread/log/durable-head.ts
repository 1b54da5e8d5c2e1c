/** Position up to which a thread's log is on disk. */

import type { LogHead } from '../../checkpoint/index.ts'
import type { ThreadState } from '../model/thread-state.ts'

/** The head as far as it is on disk; the state in memory may be ahead of it. */
export class DurableHead {
  #head: LogHead
  #durable: Promise<void> = Promise.resolve()

  constructor(head: LogHead) {
    this.#head = head
  }

  get head(): LogHead {
    return this.#head
  }

  /** Resolves when everything that was written so far is on disk. */
  get durable(): Promise<void> {
    return this.#durable
  }

  /** `head` is on disk when `written` resolves. The result resolves then, too. */
  advance(head: LogHead, written: Promise<void>): Promise<void> {
    this.#durable = written.then(() => {
      // What an earlier thread of this id wrote says nothing about this one.
      if (head.branch === this.#head.branch) this.#head = head
    })
    this.#durable.catch(() => {})
    return this.#durable
  }

  /** The thread begins a new log. */
  restart(head: LogHead): void {
    this.#head = head
  }
}

/** The head of a thread, as its log says. */
export function headOf({ row }: ThreadState): LogHead {
  const { seq, stepSeq, movedBack, historyStart: start, historyEnds, checkpointPatches } = row
  return { branch: row.branch!, seq, stepSeq, head: row.head ?? null, movedBack, start,
    ends: historyEnds?.ends, patches: checkpointPatches?.patches }
}

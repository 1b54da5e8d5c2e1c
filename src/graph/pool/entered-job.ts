/** The job whose code a worker executes, as others see it: in memory, and in a file for a crash. */

import { clearMark, markRun } from './execution-marks.ts'
import type { ExecutionMark, MarkedRun } from './execution-marks.ts'

/** Memory in which a worker shows to others the job whose code it executes. */
export interface Shown {
  readonly entered: Int32Array
  readonly mark?: ExecutionMark | undefined
}

/**
 * Shows the job that was entered last. Runs that a worker executes together take turns many times
 * within one turn of the event loop, and each write to the file is a call of the system. So the
 * file has a run when its code is first entered in a turn, and the last one when the turn ends.
 */
export class EnteredJob {
  readonly #shown: Shown
  readonly #atTurnEnd: (ended: () => void) => void
  /** Jobs that were entered in this turn. */
  readonly #inTurn = new Set<number>()
  #lastRun: MarkedRun | undefined
  #markedJob = 0

  /** `atTurnEnd` calls back when the turn of the event loop ends. */
  constructor(shown: Shown, atTurnEnd: (ended: () => void) => void) {
    this.#shown = shown
    this.#atTurnEnd = atTurnEnd
  }

  /** The code of this job runs from now on. `run`: the one that it executes. */
  enter(job: number, run?: MarkedRun): void {
    const { entered, mark } = this.#shown
    entered[1]! += 1
    if (entered[0] === job) return
    entered[0] = job
    if (mark === undefined) return
    this.#lastRun = run
    if (this.#inTurn.size === 0) this.#atTurnEnd(() => this.#endTurn(mark))
    if (this.#inTurn.has(job)) return
    this.#inTurn.add(job)
    this.#mark(mark)
  }

  #endTurn(mark: ExecutionMark): void {
    this.#inTurn.clear()
    if (this.#markedJob !== this.#shown.entered[0]) this.#mark(mark)
  }

  #mark(mark: ExecutionMark): void {
    this.#markedJob = this.#shown.entered[0]!
    if (this.#lastRun) markRun(mark, this.#lastRun)
    else clearMark(mark)
  }
}

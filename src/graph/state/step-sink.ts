/** Where a saver puts what an execution has saved. */

import type { Step } from '../execution.ts'

/** Takes steps in order, and reports when they are in the log. */
export interface StepSink {
  step(step: Step): void
  /** The steps given so far are complete only when `done` resolves. */
  hold(done: Promise<void>): void
  /** Resolves when every step given so far is in the log. */
  acknowledged(): Promise<void>
}

/** Destination for the steps that a saver makes of an execution. */

import type { Step } from '../execution.ts'

/** Takes steps in order, and reports when they are in the log. */
export interface StepSink {
  /** Takes the next step. */
  step(step: Step): void
  /** Tells that the steps given so far are complete only when `done` resolves. */
  hold(done: Promise<void>): void
  /** Resolves when every step given so far is in the log. */
  acknowledged(): Promise<void>
}

/** The execution and the task whose code runs, for the calls that it makes. */

import { AsyncLocalStorage } from 'node:async_hooks'

import type { Execution } from '../execution.ts'
import type { StepOutbox } from '../events/step-outbox.ts'
import type { CallGate } from './call-gate.ts'
import type { TaskSite } from './task-site.ts'

/** An execution whose calls are decided about. */
export interface CallingJob {
  readonly execution: Execution
  readonly outbox: StepOutbox
}

/** Makes the gate of an execution; undefined if its calls are of no interest. */
export type OpenGate = (job: CallingJob) => CallGate | undefined

/** The gate of the execution whose code runs, and its task. */
export interface CallScope {
  readonly gate: CallGate
  readonly site?: TaskSite
}

const running = new AsyncLocalStorage<CallScope>()

/** Does work of an execution whose calls the gate decides about. */
export function callingThrough<Result>(gate: CallGate | undefined,
  work: () => Promise<Result>): Promise<Result> {
  return gate === undefined ? work() : running.run({ gate }, work)
}

/** The scope of the code that runs; undefined where nobody decides about calls. */
export function callScope(): CallScope | undefined {
  return running.getStore()
}

/** Does work outside of any scope: its calls are nobody's. */
export function callingFreely<Result>(work: () => Result): Result {
  return running.exit(work)
}

/** Does work whose calls belong to the task. */
export function callingFrom<Result>(scope: CallScope, site: TaskSite, work: () => Result): Result {
  return running.run({ ...scope, site }, work)
}

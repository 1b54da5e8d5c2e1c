/** Stops a job in its worker, which then sends the completed steps of the job. */

import type { Env } from '../../../cluster/index.ts'
import type { StepOutbox } from '../events/step-outbox.ts'
import type { WorkerBatch } from '../events/worker-batch.ts'
import type { Execution } from '../execution.ts'
import type { DrainControl } from './drain-control.ts'

/** An execution in progress. */
export interface Job {
  readonly execution: Execution
  readonly outbox: StepOutbox
  readonly control: DrainControl
  readonly abort: AbortController
  /** True if it ends as soon as its input is in the state. */
  isStopping: boolean
  /** Sends a batch of it to the main thread. */
  readonly send: (batch: WorkerBatch) => void
}

/** The last batch of a job that was stopped. */
const stopped: WorkerBatch = { steps: [], events: [], ackId: 0,
  outcome: { status: 'aborted', waiting: false, interrupts: '{}', error: null } }

/** Time in milliseconds for an aborted engine to put its only checkpoint. */
const exitMs = 500

/** Stops a job. If the state does not have its input yet, the engine adds the input first. */
export function stopJob(job: Job, env: Pick<Env, 'after'>): void {
  if (job.isStopping) return
  job.isStopping = true
  const { execution: { request }, control } = job
  const hasInput = request.kind === 'run' && request.input !== 'null'
  if (hasInput && !control.hasInput) control.handBackWithInput()
  else cutJob(job, env)
}

/** Stops a job at once. With durability `exit`, the engine still puts its only checkpoint. */
export function cutJob(job: Job, env: Pick<Env, 'after'>): void {
  const { execution: { request }, abort, outbox } = job
  if (abort.signal.aborted) return
  const putsAtEnd = request.kind === 'run' && request.durability === 'exit'
  outbox.hurry()
  // Without the exception, tasks that the signal ends would leave their errors in the log.
  if (!putsAtEnd) void finishStopped(job)
  abort.abort()
  if (putsAtEnd) env.after(exitMs, () => void finishStopped(job))
}

/** Sends the rest of the completed steps of a stopped job, and its outcome. */
export async function finishStopped({ outbox, send }: Job): Promise<void> {
  // A step that cannot be completed ends the run as well.
  await outbox.finish(stopped.outcome!).catch(() => send(stopped))
  outbox.close()
}

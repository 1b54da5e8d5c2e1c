/** The stages of a process: started one by one, stopped in reverse, each within its time. */

import { ClusterError } from './errors.ts'
import { withTimeout } from './flow/with-timeout.ts'
import type { Env } from './runtime/env.ts'

/** `T` is what the stage provides to those above it. */
export interface Stage<T> {
  readonly start: () => T | Promise<T>
  /** A start that takes longer has failed. */
  readonly startMs: number
  /** `deadline` aborts after `stopMs`; soon after, the stages below are stopped in any case. */
  readonly stop: (value: T, deadline: AbortSignal) => unknown
  readonly stopMs: number
}

/** The stages of one process, from its start to its end. */
export interface Lifecycle {
  /**
   * Adds a stage on top; stages that do not need each other may be started concurrently. If one
   * fails, the others are stopped before its error is thrown.
   */
  start<T>(name: string, stage: Stage<T>): Promise<T>
  /**
   * Stops all stages, the top one first; one that still starts is stopped when it has started.
   * Never throws; a second call waits for the first.
   */
  stop(): Promise<void>
}

/** Extra time of a stage after its deadline. */
const lastMomentMs = 250

/** A process without any stage yet. */
export function createLifecycle(env: Env): Lifecycle {
  const stops: (() => Promise<void>)[] = []
  let stopping: Promise<void> | undefined
  let failed = false

  const stopAll = async () => {
    for (let next = stops.pop(); next !== undefined; next = stops.pop()) await next()
  }
  const stop = () => stopping ??= stopAll()

  const start = async <T>(name: string, stage: Stage<T>): Promise<T> => {
    if (stopping !== undefined) throw new Error(`The stage ${name} comes too late: all is ending.`)
    const late = () =>
      new ClusterError('unavailable', 'Starting took too long: the stage ' +
        `${name} was not there within ${stage.startMs / 1_000} s, because something hangs or ` +
        'this machine has too much to do. Start it again.')
    const starting = Promise.resolve().then(() => stage.start())
    const started = withTimeout(env, stage.startMs, starting, late)
    const complain = (error: unknown) => {
      // After a failed start, its own error is all that should be read.
      if (!failed) env.log.warn('A stage did not stop cleanly.', { stage: name, error })
    }
    const stopIt = (value: T) => stopStage(env, name, stage, value).catch(complain)
    stops.push(() => started.then(stopIt, () => {}))
    try {
      return await started
    } catch (error) {
      failed = true
      // If it was only late, and does start after all, it is stopped again.
      void starting.then(stopIt, () => {})
      await stop()
      throw error
    }
  }
  return { start, stop }
}

async function stopStage<T>(env: Env, name: string, stage: Stage<T>, value: T): Promise<void> {
  const deadline = new AbortController()
  const cancel = env.after(stage.stopMs, () => deadline.abort())
  const late = () => new Error(`The stage ${name} did not stop within ${stage.stopMs} ms.`)
  try {
    const stopping = Promise.resolve().then(() => stage.stop(value, deadline.signal))
    await withTimeout(env, stage.stopMs + lastMomentMs, stopping, late)
  } finally {
    cancel()
  }
}

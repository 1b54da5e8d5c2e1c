/** Tasks whose code runs, which can be ended from outside: as by a call that may not leave. */

import type { TaskSite } from './task-site.ts'

/** A task as it is seen from its calls. */
export interface RunningTask {
  /** Does work in the engine's context of the task, which a call does not always have. */
  within<Result>(work: () => Result): Result
  /** Ends the task with an error, whatever its code still waits for. */
  stop(error: unknown): void
}

interface Entered extends RunningTask {
  readonly stopped: Promise<never>
}

const tasks = new WeakMap<TaskSite, Entered>()

/** The task of a site; undefined if its code was entered where it cannot be ended. */
export function runningTask(site: TaskSite): RunningTask | undefined {
  return tasks.get(site)
}

/** Does the work of a task. It ends when the task is stopped. */
export function untilStopped<Result>(site: TaskSite, within: RunningTask['within'],
  work: () => Promise<Result>): Promise<Result> {
  const known = tasks.get(site)
  const { stopped } = known ?? enter(site, within)
  return Promise.race([work(), stopped])
}

function enter(site: TaskSite, within: RunningTask['within']): Entered {
  const { promise: stopped, reject: stop } = Promise.withResolvers<never>()
  // Most tasks are never stopped, and the engine waits no more for some that are.
  stopped.catch(() => {})
  const entered = { within, stop, stopped }
  tasks.set(site, entered)
  return entered
}

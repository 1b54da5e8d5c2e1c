/** Tasks whose code runs, which can be ended from outside: as by a call that may not leave. */

import { memberOf } from '../../json/index.ts'
import type { TaskSite } from './task-site.ts'

/** A task as it is seen from its calls. */
export interface RunningTask {
  /** Does work in the engine's context of the task, which a call does not always have. */
  within<Result>(work: () => Result): Result
  /** Does work in the engine's context of each task around it. */
  withinEachAround(work: () => void): void
  /**
   * Ends the task with an error, whatever its code still waits for. With a question, all tasks
   * around it end so, too: their code may catch it, and must not go on without its answer.
   */
  stop(error: unknown): void
  /** Lets the task and all around it end with an error, whatever their code makes of it. */
  endWith(error: unknown): void
}

/** A task that begins: how its context is entered, and the task whose code has called it. */
export interface BegunTask {
  readonly within: RunningTask['within']
  readonly around: TaskSite | undefined
}

class Entered implements RunningTask {
  readonly within: RunningTask['within']
  readonly #around: Entered | undefined
  readonly #stopped = Promise.withResolvers<never>()
  #ending: { readonly error: unknown } | undefined

  constructor({ within, around }: BegunTask) {
    this.within = within
    this.#around = around && tasks.get(around)
    // What begins later goes on with what was caught.
    if (this.#around) this.#ending = this.#around.#ending
    // Most tasks are never stopped, and the engine waits no more for some that are.
    this.#stopped.promise.catch(() => {})
  }

  withinEachAround(work: () => void): void {
    this.#around?.within(work)
    this.#around?.withinEachAround(work)
  }

  stop(error: unknown): void {
    this.#stopped.reject(error)
    if (asks(error)) this.#around?.endWith(error)
  }

  endWith(error: unknown): void {
    this.#ending ??= { error }
    this.#around?.endWith(error)
  }

  /** Stops it if it is only left to end. */
  stopIfEnding(): boolean {
    if (this.#ending) this.stop(this.#ending.error)
    return this.#ending !== undefined
  }

  until<Result>(work: () => Promise<Result>): Promise<Result> {
    return Promise.race([this.#ended(work()), this.#stopped.promise])
  }

  async #ended<Result>(work: Promise<Result>): Promise<Result> {
    const [settled] = await Promise.allSettled([work])
    if (settled.status === 'fulfilled' && this.#ending === undefined) return settled.value
    // It may ask more than the one question.
    if (settled.status === 'rejected' && (this.#ending === undefined || asks(settled.reason))) {
      throw settled.reason
    }
    throw this.#ending!.error
  }
}

const tasks = new WeakMap<TaskSite, Entered>()

/** The task of a site; undefined if its code was entered where it cannot be ended. */
export function runningTask(site: TaskSite): RunningTask | undefined {
  return tasks.get(site)
}

/**
 * True for a task whose code has caught what is to end it, and goes on: it is stopped. What it was
 * about to do must not be done.
 */
export function stopsNow(site: TaskSite | undefined): boolean {
  return site !== undefined && tasks.get(site)?.stopIfEnding() === true
}

/** True for an error that puts questions to a person. */
export function asks(error: unknown): boolean {
  return Array.isArray(memberOf(error, 'interrupts'))
}

/** Does the work of a task. It ends when the task is stopped. */
export function untilStopped<Result>(site: TaskSite, begun: BegunTask,
  work: () => Promise<Result>): Promise<Result> {
  const entered = tasks.get(site) ?? new Entered(begun)
  tasks.set(site, entered)
  return entered.until(work)
}

/** Tasks of one run that failed: what is stored of their errors, and what its events say. */

import { errorOfTask, withPlace } from '../project/code-place.ts'

/** Failures of the tasks of one run. */
export class TaskFailures {
  readonly #root: string | undefined
  readonly #isExit: boolean
  readonly #errors = new Map<string, unknown>()

  constructor(root: string | undefined, isExit: boolean) {
    this.#root = root
    this.#isExit = isExit
  }

  /** Takes the error of a task. Returns what is stored of it: with its places in the project. */
  readonly take = (taskId: string, error: unknown): unknown => {
    this.#errors.set(taskId, error)
    return withPlace(error, this.#root)
  }

  /** Error of a task; undefined for none. With durability exit it is stored after all events. */
  readonly of = (taskId: string): unknown =>
    this.#errors.get(taskId) ?? (this.#isExit ? errorOfTask(taskId) : undefined)
}

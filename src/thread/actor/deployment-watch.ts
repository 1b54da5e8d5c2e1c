/** Wakes the thread when its deployment changes: what waits for that may start then. */

import type { ThreadContext } from '../context/thread-context.ts'

/** Waits for the next change of the thread's deployment. */
export class DeploymentWatch {
  readonly #context: ThreadContext
  #end: (() => void) | undefined

  constructor(context: ThreadContext) {
    this.#context = context
  }

  /** Wakes the thread once. Whatever it then waits for is watched anew. */
  watch(): void {
    const { ports: { deployed }, tenant, notify } = this.#context
    this.#end ??= deployed?.onChange(tenant, () => {
      this.leave()
      notify({ type: 'wake' })
    })
  }

  leave(): void {
    this.#end?.()
    this.#end = undefined
  }
}

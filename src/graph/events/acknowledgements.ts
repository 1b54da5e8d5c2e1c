/** Numbers of the batches that were sent, and the callers that wait until one is in the log. */

/** Numbers batches from 1: the other side confirms a number when that batch is in the log. */
export class Acknowledgements {
  #newest = 0
  /** Set while a caller waits for steps that are not sent yet. */
  #wanted: PromiseWithResolvers<void> | undefined
  readonly #unconfirmed = new Map<number, PromiseWithResolvers<void>>()
  /** Steps were sent without a number: that of a later batch will cover them. */
  #isBehind = false

  /** True if the next batch needs a number because a caller waits, even if the batch is empty. */
  get isWanted(): boolean {
    return this.#wanted !== undefined
  }

  /** Resolves when all that was sent is in the log; with `hasMore`, what is sent next as well. */
  wait(hasMore: boolean): Promise<void> {
    if (this.#wanted) return this.#wanted.promise
    if (!hasMore && !this.#isBehind) {
      const last = [...this.#unconfirmed.values()].at(-1)
      return last?.promise ?? Promise.resolve()
    }
    this.#wanted = Promise.withResolvers()
    return this.#wanted.promise
  }

  /** The number of a batch that is sent now; 0 if no caller waits for it. */
  numberOf({ steps }: { readonly steps: readonly unknown[] }): number {
    const wanted = this.#wanted
    this.#wanted = undefined
    this.#isBehind = !wanted && (steps.length > 0 || this.#isBehind)
    if (!wanted) return 0
    this.#newest += 1
    this.#unconfirmed.set(this.#newest, wanted)
    return this.#newest
  }

  /** The batch with this number and all before it are in the log. */
  confirm(number: number): void {
    for (const [each, { resolve }] of this.#unconfirmed) {
      if (each > number) return
      this.#unconfirmed.delete(each)
      resolve()
    }
  }

  /** Rejects every caller that waits: no batch is confirmed any more. */
  refuse(reason: unknown): void {
    for (const waiting of [this.#wanted, ...this.#unconfirmed.values()]) {
      waiting?.promise.catch(() => {})
      waiting?.reject(reason)
    }
    this.#wanted = undefined
    this.#unconfirmed.clear()
  }
}

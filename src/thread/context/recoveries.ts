/** Threads that are loaded because searches wait until their rows are up to date. */

/** The recoveries of one member. They may exceed the share of inputs that their tenant has. */
export class Recoveries {
  /** Number of recoveries under way, by the text of the thread. */
  readonly #threads = new Map<string, number>()

  /** Calls `work`, which loads the thread for a recovery. */
  async during<Result>(tenant: string, threadId: string,
    work: () => Promise<Result>): Promise<Result> {
    const text = textOf(tenant, threadId)
    this.#add(text, 1)
    try {
      return await work()
    } finally {
      this.#add(text, -1)
    }
  }

  /** True while the thread is loaded for a recovery. */
  has(tenant: string, threadId: string): boolean {
    return this.#threads.has(textOf(tenant, threadId))
  }

  #add(text: string, more: number): void {
    const count = (this.#threads.get(text) ?? 0) + more
    if (count > 0) this.#threads.set(text, count)
    else this.#threads.delete(text)
  }
}

function textOf(tenant: string, threadId: string): string {
  return `${tenant}\n${threadId}`
}

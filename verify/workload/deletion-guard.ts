/**
 * Keeps requests that create a missing thread apart from its deletion: otherwise they make it
 * again, and rules could not say which of its entries must be there.
 */
export class DeletionGuard {
  /** Number of such requests by thread that are sent, or whose result is not known. */
  readonly #creating = new Map<string, number>()
  readonly #deleted = new Set<string>()

  /** Sends a request that creates a missing thread; `undefined` if the thread is being deleted. */
  async create<Result extends { readonly status?: number }>(threadId: string,
    send: () => Promise<Result>): Promise<Result | undefined> {
    if (this.#deleted.has(threadId)) return undefined
    this.#count(threadId, 1)
    const result = await send()
    // Without a response, the server may execute the request later.
    if (result.status !== undefined) this.#count(threadId, -1)
    return result
  }

  /** True if the thread may be deleted now. Then no request may create it any more. */
  startDeletion(threadId: string): boolean {
    if ((this.#creating.get(threadId) ?? 0) > 0) return false
    this.#deleted.add(threadId)
    return true
  }

  /** The thread was not deleted. */
  cancelDeletion(threadId: string): void {
    this.#deleted.delete(threadId)
  }

  #count(threadId: string, change: number): void {
    this.#creating.set(threadId, (this.#creating.get(threadId) ?? 0) + change)
  }
}

/** Work on many items, a few at a time. */

/** Calls `work` for each item, at most `limit` at a time. Stops at the first failure. */
export async function forEachLimit<Item>(limit: number, items: Iterable<Item>,
  work: (item: Item) => Promise<void>): Promise<void> {
  const rest = items[Symbol.iterator]()
  const failures = new AbortController()
  const lane = async () => {
    for (let next = rest.next(); !next.done; next = rest.next()) {
      if (failures.signal.aborted) return
      await work(next.value)
    }
  }
  await Promise.all(Array.from({ length: limit }, () =>
    lane().catch((error: unknown) => {
      failures.abort()
      throw error
    })))
}

/** Work on many items, a few at a time. */

/** Calls `work` for each item, at most `limit` at a time; stops at the first failure. */
export async function inFlight<Item>(limit: number, items: Iterable<Item>,
  work: (item: Item) => Promise<void>): Promise<void> {
  const rest = items[Symbol.iterator]()
  const failures = new AbortController()
  const lane = async () => {
    for (let next = rest.next(); !next.done; next = rest.next()) {
      if (failures.signal.aborted) return
      await work(next.value)
    }
  }
  await Promise.all(Array.from({ length: limit }, () => lane().catch((error: unknown) => {
    failures.abort()
    throw error
  })))
}

/** A turnstile: of the work that is handed to it, at most `limit` is under way. */
export function atMost(limit: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = []
  let free = limit
  return async (work) => {
    if (free > 0) free--
    else await new Promise<void>((enter) => waiting.push(enter))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else free++
    }
  }
}

/** Work on many items, a few at a time. */

/** Calls `work` for each item, at most `limit` at a time; stops at the first failure. */
export async function inFlight<Item>(limit: number, items: Iterable<Item>,
  work: (item: Item) => Promise<void>): Promise<void> {
  const rest = items[Symbol.iterator]()
  let failed = false
  const lane = async () => {
    for (let next = rest.next(); !next.done && !failed; next = rest.next()) await work(next.value)
  }
  const lanes = Array.from({ length: limit }, () =>
    lane().catch((error: unknown) => { failed = true; throw error }))
  await Promise.all(lanes)
}

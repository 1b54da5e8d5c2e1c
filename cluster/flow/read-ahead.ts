/** Reading ahead: while one item is used, the next few are being read, and no more than those. */

/**
 * The results of `read` for each item, in order. At most `limit` of them are being read or not used
 * yet; a function is asked for the limit before each item. Ending the iteration ends the reading.
 */
export async function* readAhead<Item, Read>(limit: number | (() => number),
  items: Iterable<Item> | AsyncIterable<Item>,
  read: (item: Item) => Promise<Read>): AsyncGenerator<Read, void, void> {
  const underWay: Promise<Read>[] = []
  const limitNow = typeof limit === 'number' ? () => limit : limit
  for await (const item of items) {
    while (underWay.length >= limitNow()) yield await underWay.shift()!
    const reading = read(item)
    // A failure is thrown in its turn, or never if the iteration ends before.
    reading.catch(() => {})
    underWay.push(reading)
  }
  while (underWay.length > 0) yield await underWay.shift()!
}

/** Reading ahead: while one is looked at, the next few are under way; no more than that is held. */

/**
 * What `read` makes of each item, in the order of the items, at most `limit` of them on their way
 * or not looked at yet, as it is when the next would be read. Whoever stops looking stops the
 * reading.
 */
export async function* readAhead<Item, Read>(limit: number | (() => number),
  items: Iterable<Item> | AsyncIterable<Item>, read: (item: Item) => Promise<Read>):
  AsyncGenerator<Read, void, void> {
  const underWay: Promise<Read>[] = []
  const limitNow = typeof limit === 'number' ? () => limit : limit
  for await (const item of items) {
    while (underWay.length >= limitNow()) yield await underWay.shift()!
    const reading = read(item)
    // One that fails is heard of in its turn, or by nobody.
    reading.catch(() => {})
    underWay.push(reading)
  }
  while (underWay.length > 0) yield await underWay.shift()!
}

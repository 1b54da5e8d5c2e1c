/** Attacks by metadata: large documents, and filters that each of them must be checked for. */

import type { Attack } from './place.ts'

/** Metadata that does not contain the filter `{big: {y: 1}}`: its `x` has `count` numbers. */
const document = (count: number) => ({
  big: { x: Array.from({ length: count }, (_, n) => 1_000_000 + n) },
})

/** Of five megabytes, which is refused, and as large as is taken. */
const [tooLong, longest] = [document(600_000), document(8_000)]
const threads = 300
const searches = 12

export const metadataFilters: Attack = {
  name: 'counts by a filter that only each document can answer',
  prepare: async ({ developer, reader, send, drop }) => {
    const { status } = await drop(developer, '/threads', { metadata: tooLong })
    if (status !== 422) throw new Error(`Metadata of five megabytes was answered ${status}.`)
    for (let n = 0; n < threads; n += 1) await send(developer, '/threads', { metadata: longest })
    return () =>
      Promise.all(
        Array.from({ length: searches },
          () => drop(reader, '/threads/count', { metadata: { big: { y: 1 } } })),
      )
  },
}

/** A page of examples costs the same, wherever it is, and however old its version is. */

import { randomUUID } from 'node:crypto'

import { expect, it } from 'vitest'

import { exampleReads } from '../../../../src/platform/evaluate/datasets/example-reader.ts'
import { stampOf, timeTextUs } from '../../../../src/platform/index.ts'
import { oneDataset } from '../../../support/memory-datasets.ts'
import { memorySpans } from '../../../support/memory-spans.ts'

const [examples, pageOf, changes] = [10_000, 100, 50]

it('Documents that are read for a page do not grow', async () => {
  const store = memorySpans()
  const house = oneDataset(store, store)
  const { tenant, dataset: { id: dataset } } = house
  const writes = house.writes()
  const write = (form: 'create' | 'update', body: unknown) =>
    writes.changeExamples({ tenant, dataset, form, contentType: '',
      body: Buffer.from(JSON.stringify(body)) })
  const ids = Array.from({ length: examples }, () => randomUUID())
  for (let at = 0; at < examples; at += 10_000) {
    await write('create', ids.slice(at, at + 10_000).map((id, q) => ({ id, inputs: { q } })))
  }
  const old = house.dataset.head!
  for (let at = 0; at < changes; at++) {
    await write('update', [{ id: ids[at * (examples / changes)], metadata: { at } }])
  }
  for (const asOf of ['latest', timeTextUs(stampOf(old))]) {
    for (const newestFirst of [false, true]) {
      for (const skip of [0, examples / 2, examples - pageOf, 3_456]) {
        let read = 0
        // Nothing is known yet of what others have read.
        const { examples: page } = exampleReads({
          ...store,
          getDocuments: (place, keys) => {
            read += keys.length
            return store.getDocuments(place, keys)
          },
          listDocuments: async (place, range) => {
            const found = await store.listDocuments(place, range)
            read += found.length
            return found
          },
        }, { monotonicMs: () => 0 })
        const found = await page({ tenant, dataset: house.dataset, asOf, from: { at: 0, skip },
          limit: pageOf, newestFirst, shown: { outputs: true, metadata: true, files: true },
          links: { secret: '', expiresS: 0 } })
        const inOrder = newestFirst ? ids.toReversed() : ids
        expect(found.ids).toEqual(inOrder.slice(skip, skip + pageOf))
        // Its rows, two of the leaves, the nodes above them, the root, and the version.
        expect(read).toBeLessThanOrEqual(pageOf + 8)
      }
    }
  }
})

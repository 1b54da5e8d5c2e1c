/** Bytes of datasets: charged before they are written, and given back when they are not there. */

import { randomUUID } from 'node:crypto'

import { expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import type { DocumentPlace, SpanStore } from '../../../../src/platform/index.ts'
import { oneDataset } from '../../../support/memory-datasets.ts'
import { memorySpans } from '../../../support/memory-spans.ts'

/** A dataset whose store knows the bytes of its rows, nodes and files. */
function counted() {
  const store = memorySpans()
  const sizes = new Map<string, number>()
  const stored = () => [...sizes.values()].reduce((sum, size) => sum + size, 0)
  /** Where documents were written that nobody had charged. */
  const unpaid: string[] = []
  const counting: SpanStore = {
    ...store,
    putDocuments: async (place, documents) => {
      for (const { key, body } of documents) {
        if (isOwn(place)) sizes.set(`${place.kind} ${key}`, body.byteLength)
      }
      if (stored() > house.held) unpaid.push(documents[0]!.key)
      await store.putDocuments(place, documents)
    },
    deleteDocuments: async (place, keys) => {
      for (const key of keys) sizes.delete(`${place.kind} ${key}`)
      await store.deleteDocuments(place, keys)
    },
  }
  const house = oneDataset(counting, counting, { inputsSchema: '{"required":["q"]}' })
  // Which datasets have an example stands elsewhere, in a few bytes.
  const isOwn = ({ owner }: DocumentPlace) => owner === house.dataset.id
  return { house, stored, unpaid }
}

type Form = 'create' | 'update' | 'metadata' | 'erase' | 'createParts'

function sender({ tenant, dataset: { id: dataset }, writes }: ReturnType<typeof oneDataset>) {
  const write = writes()
  return (form: Form, body: unknown, contentType = '') =>
    write.changeExamples({ tenant, dataset, form, contentType,
      body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) })
}

it('Whatever a change is, its bytes are charged first', async () => {
  const { house, stored, unpaid } = counted()
  const send = sender(house)
  const examples = Array.from({ length: 250 },
    () => ({ id: randomUUID(), inputs: { q: 'x'.repeat(2_000) } }))
  const ids = examples.map(({ id }) => id)
  await send('create', examples)
  expect(house.held).toBe(stored())
  // The rows are written anew, though the request is short.
  await send('metadata', { example_ids: ids,
    operations: [{ key: 'k', operation: 'set', value: 1 }] })
  expect(house.held).toBe(stored())
  await send('update', [{ id: ids[0], metadata: { other: true } }])
  expect(house.held).toBe(stored())
  await send('erase', ids.slice(0, 100))
  // The place of an example is not counted when it is erased.
  expect(house.held - stored()).toBeLessThan(100 * 10)
  expect(unpaid).toEqual([])
})

it('A change that is refused leaves no bytes, and costs none', async () => {
  const { house, stored, unpaid } = counted()
  const send = sender(house)
  const [good, bad] = [randomUUID(), randomUUID()]
  const parts = (id: string, inputs: object) =>
    [`--b\r\ncontent-disposition: form-data; name="${id}"\r\n\r\n{}\r\n`,
      `--b\r\ncontent-disposition: form-data; name="${id}.inputs"\r\n\r\n` +
      `${JSON.stringify(inputs)}\r\n`,
      `--b\r\ncontent-disposition: form-data; name="${id}.attachment.f"\r\n\r\n` +
      `${'f'.repeat(3_000_000)}\r\n`].join('')
  const type = 'multipart/form-data; boundary=b'
  await expect(send('createParts', `${parts(good, { q: 1 })}${parts(bad, {})}--b--\r\n`, type))
    .rejects.toThrow(`Example ${bad}: inputs.q is missing.`)
  expect([house.held, stored()]).toEqual([0, 0])
  await send('createParts', `${parts(good, { q: 1 })}--b--\r\n`, type)
  const once = stored()
  expect(once).toBeGreaterThan(3_000_000)
  expect(house.held).toBe(once)
  // Sent again, it is there already.
  await send('createParts', `${parts(good, { q: 1 })}--b--\r\n`, type)
  expect([house.held, stored()]).toEqual([once, once])
  expect(unpaid).toEqual([])
})

it('A tenant without room writes nothing', async () => {
  const { house, stored } = counted()
  const write = house.writes({ ...house.catalog, charge: async () => {
    throw new HeddleError('full')
  } })
  const { tenant, dataset: { id: dataset } } = house
  await expect(
    write.changeExamples({ tenant, dataset, form: 'create', contentType: '',
      body: Buffer.from('[{"inputs":{"q":1}}]') }),
  ).rejects.toMatchObject({ code: 'full' })
  expect(stored()).toBe(0)
})

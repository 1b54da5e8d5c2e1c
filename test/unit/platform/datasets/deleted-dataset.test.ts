/** A dataset that is deleted while examples are written to it. */

import { randomUUID } from 'node:crypto'

import { expect, it } from 'vitest'

import type { SpanStore } from '../../../../src/platform/index.ts'
import { oneDataset } from '../../../support/memory-datasets.ts'
import { memorySpans } from '../../../support/memory-spans.ts'

/** A dataset that is deleted when the write of this number starts, with the keys of its store. */
function deletedAt(write: number) {
  const store = memorySpans()
  const keys = new Set<string>()
  let writes = 0
  const counting: SpanStore = {
    ...store,
    putDocuments: async (place, documents) => {
      if (writes++ === write) house.delete()
      for (const { key } of documents) keys.add(`${place.kind} ${place.owner} ${key}`)
      await store.putDocuments(place, documents)
    },
    deleteDocuments: async (place, removed) => {
      for (const key of removed) keys.delete(`${place.kind} ${place.owner} ${key}`)
      await store.deleteDocuments(place, removed)
    },
    dropDocuments: async (place) => {
      for (const key of keys) if (key.startsWith(`${place.kind} ${place.owner} `)) keys.delete(key)
      await store.dropDocuments(place)
    },
  }
  const house = oneDataset(counting, counting)
  return { house, keys, writes: () => writes }
}

async function addExample({ house }: ReturnType<typeof deletedAt>): Promise<void> {
  const id = randomUUID()
  const part = (name: string, body: string) =>
    `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${body}\r\n`
  await house.writes().changeExamples({ tenant: house.tenant, dataset: house.dataset.id,
    form: 'createParts', contentType: 'multipart/form-data; boundary=b',
    body: Buffer.from(part(id, '{}') + part(`${id}.inputs`, '{"q":1}') +
      part(`${id}.attachment.f`, 'file') + '--b--\r\n') })
}

it('a dataset that is deleted during any write of examples leaves no document', async () => {
  const whole = deletedAt(Infinity)
  await addExample(whole)
  expect(whole.keys.size).toBeGreaterThan(4)
  for (let write = 0; write < whole.writes(); write++) {
    const deleted = deletedAt(write)
    await expect(addExample(deleted)).rejects.toMatchObject({ code: 'not_found' })
    expect([...deleted.keys]).toEqual([])
  }
})

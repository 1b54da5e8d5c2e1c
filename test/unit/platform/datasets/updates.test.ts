/** Updates of examples: which attachments stay, and whose examples are refused. */

import { randomUUID } from 'node:crypto'

import { expect, it } from 'vitest'

import { datasetsOf,
  membershipKey } from '../../../../src/platform/evaluate/datasets/example-place.ts'
import { oneDataset } from '../../../support/memory-datasets.ts'
import { memorySpans } from '../../../support/memory-spans.ts'

/** A dataset with an example that has the attachments `one` and `two`. */
async function openHouse() {
  const store = memorySpans()
  const house = oneDataset(store, store)
  const { tenant, dataset: { id: dataset } } = house
  const [id, writes] = [randomUUID(), house.writes()]
  const send = async (form: 'createParts' | 'updateParts', files: readonly string[],
    kept?: object) => {
    const parts = new FormData()
    const add = (name: string, text: string) =>
      parts.set(name, new Blob([text], { type: 'text/plain' }))
    add(id, '{"inputs":{"q":1}}')
    for (const name of files) add(`${id}.attachment.${name}`, name)
    if (kept) add(`${id}.attachments_operations`, JSON.stringify(kept))
    const sent = new Response(parts)
    await writes.changeExamples({ tenant, dataset, form, body: Buffer.from(await sent.bytes()),
      contentType: sent.headers.get('content-type')! })
  }
  const find = async (filter?: string) => {
    const { texts } = await house.reads.examples({ tenant, dataset: house.dataset, limit: 9,
      from: { at: 0, skip: 0 }, newestFirst: false, ...filter !== undefined && { filter },
      shown: { outputs: true, metadata: true, files: true },
      links: { secret: '', expiresS: 0, base: 'https://here/api/v1' } })
    return texts.map((text) =>
      JSON.parse(text) as {
        readonly attachment_urls: Readonly<Record<string, { readonly presigned_url: string }>>
      }
    )
  }
  const names = async () =>
    Object.keys((await find())[0]!.attachment_urls).map((name) => name.replace('attachment.', ''))
  await send('createParts', ['one', 'two'])
  return { house, store, tenant, dataset, id, writes, send, find, names }
}

it('New attachments replace those that are not retained', async () => {
  const { send, names, find } = await openHouse()
  await send('updateParts', [])
  expect(await names()).toEqual(['one', 'two'])
  await send('updateParts', ['three'], { rename: { one: 'first' }, retain: ['two'] })
  expect(await names()).toEqual(['first', 'two', 'three'])
  await send('updateParts', ['four'])
  expect(await names()).toEqual(['four'])
  const [{ attachment_urls: links } = { attachment_urls: {} }] = await find()
  expect(Object.values(links)[0]!.presigned_url)
    .toMatch(/^https:\/\/here\/api\/v1\/public\/download\?jwt=/)
})

it('An update makes a version, also if it says what there is', async () => {
  const { house, send } = await openHouse()
  const before = house.dataset.head
  await send('updateParts', [])
  expect(house.dataset.head).not.toBe(before)
  await send('createParts', ['one', 'two'])
  const again = house.dataset.head
  await send('createParts', ['one', 'two'])
  expect(house.dataset.head).toBe(again)
})

it('A rename onto a retained name is refused, and changes nothing', async () => {
  const { send, names } = await openHouse()
  for (const rename of [{ one: 'two' }, { two: 'three' }]) {
    await expect(send('updateParts', [], { rename, retain: ['two'] })).rejects
      .toMatchObject({ code: 'invalid', message: expect.stringContaining('renamed') })
  }
  expect(await names()).toEqual(['one', 'two'])
})

it('An update of an example of another dataset is a conflict, of none not found', async () => {
  const { store, tenant, dataset, writes } = await openHouse()
  const [other, strange] = [randomUUID(), randomUUID()]
  const update = (id: string) =>
    writes.changeExamples({ tenant, dataset, form: 'update', contentType: '',
      body: Buffer.from(JSON.stringify([{ id, inputs: {} }])) })
  await store.putDocuments(datasetsOf(tenant, other), [{ key: membershipKey(other, dataset),
    body: Buffer.from('1') }])
  await expect(update(other)).rejects.toMatchObject({ code: 'exists' })
  await expect(update(strange)).rejects.toMatchObject({ code: 'not_found' })
})

it('Metadata are named with or without quotes in a filter', async () => {
  const { find, writes, tenant, dataset, id } = await openHouse()
  await writes.changeExamples({ tenant, dataset, form: 'update', contentType: '',
    body: Buffer.from(JSON.stringify([{ id, metadata: { a: 'b' } }])) })
  for (const name of ['metadata', '"metadata"', "'metadata'"]) {
    expect(await find(`has(${name}, '{"a": "b"}')`)).toHaveLength(1)
    expect(await find(`has(${name}, '{"a": "c"}')`)).toHaveLength(0)
  }
})

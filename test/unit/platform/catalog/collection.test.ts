/** A kind of record over catalogs: values are read and written, and there is room for so many. */

import { beforeEach, expect, it } from 'vitest'

import { collection } from '../../../../src/platform/records/catalog/collection.ts'
import type { Records } from '../../../../src/platform/records/catalog/collection.ts'
import { CatalogHouse } from './catalog-house.ts'

interface Note {
  readonly id: string
  readonly of: string
  readonly text: string
}

const code = (name: string) => expect.objectContaining({ code: name }) as unknown

let house: CatalogHouse
let notes: Records<Note>

beforeEach(() => {
  house = new CatalogHouse()
  notes = open({ count: 150, of: 'parent', full: 'There are enough.' })
})

function open(max: NonNullable<Parameters<typeof collection>[2]['max']>): Records<Note> {
  return collection(house.client(), house.env, {
    name: 'view',
    parse: ({ id, parentId, bodyJson }): Note => ({ id, of: parentId,
      text: (JSON.parse(bodyJson) as { readonly text: string }).text }),
    missing: (id) => `No note ${id}.`,
    max,
  })
}

it('A value is made, read, changed and deleted, and stays in its tenant.', async () => {
  const made = await notes.create('acme', { body: { text: 'one' } })
  expect(await notes.get('acme', made.id)).toEqual({ id: made.id, of: '', text: 'one' })
  expect(await notes.some('other', [made.id])).toEqual([])
  expect(await notes.change('acme', made.id, { body: { text: 'two' } })).toEqual({ ...made,
    text: 'two' })
  await notes.delete('acme', made.id)
  await expect(notes.get('acme', made.id)).rejects.toThrow(`No note ${made.id}.`)
})

it('All are read in pages; above the bound of a parent there is no room.', async () => {
  const texts = Array.from({ length: 150 }, (_, index) => String(index))
  for (const text of texts) await notes.create('acme', { parentId: 'p', body: { text } })
  expect((await notes.all('acme', { parentIds: ['p'] })).map(({ text }) => text)).toEqual(texts)
  expect((await notes.list('acme', { limit: 2, offset: 99 })).values.map(({ text }) => text))
    .toEqual(['99', '100'])
  await expect(notes.create('acme', { parentId: 'p', body: {} })).rejects.toEqual(code('full'))
  await notes.create('acme', { parentId: 'q', body: { text: 'free' } })
  await notes.deleteOf('acme', 'p')
  expect((await notes.all('acme')).map(({ text }) => text)).toEqual(['free'])
})

it('Without a parent, the bound is that of the tenant.', async () => {
  notes = open({ count: 1, full: 'One is enough.' })
  await notes.create('acme', { parentId: 'p', body: {} })
  await expect(notes.create('acme', { parentId: 'q', body: {} })).rejects.toThrow('One is enough.')
  await notes.create('other', { body: {} })
})

it('What is there already is answered, or changed where that is said.', async () => {
  const [one] = await notes.ensure('acme', [{ name: 'n', body: { text: 'one' } }])
  expect(await notes.ensure('acme', [{ name: 'n', body: { text: 'two' } }])).toEqual([one])
  await expect(notes.create('acme', { name: 'n', body: {} })).rejects.toEqual(code('exists'))
  expect(await notes.create('acme', { name: 'n', body: {} }, { body: { text: 'three' } }))
    .toEqual({ ...one, text: 'three' })
})

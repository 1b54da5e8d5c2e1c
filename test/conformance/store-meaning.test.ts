/** A project that embeds its items: what is nearest comes first, and what embedding refuses. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useServer } from '../support/server.ts'
import { ask, messageOf } from '../support/wire.ts'

const server = useServer({ project: 'memory' })
const store = () => server.client.store

/** The cosine of half a right angle, as it is shown. */
const diagonal = Number(Math.SQRT1_2.toFixed(3))

async function found(namespace: string[], options: object): Promise<unknown[]> {
  const { items } = await store().searchItems(namespace, options)
  return items.map(({ key, score }) => [key, score == null ? null : Number(score.toFixed(3))])
}

describe('a search by meaning', () => {
  it('has the best text of each item, and what has none last', async () => {
    const namespace = [randomUUID()]
    await store().putItem(namespace, 'a', { text: 'plum plum plum tram' })
    await store().putItem(namespace, 'b', { text: 'sea', notes: [{ text: 'x' }, { text: 'plum' }] })
    await store().putItem(namespace, 'c', { text: 'tram' })
    await store().putItem(namespace, 'd', { text: 'plum' }, { index: false })
    await store().putItem(namespace, 'e', { n: 1 })
    await store().putItem(namespace, 'f', { title: 'tram plum' }, { index: ['title'] })
    expect(await found(namespace, { query: 'plum' })).toEqual([['b', 1], ['a', 0.949], ['f',
      diagonal], ['c', 0], ['e', null], ['d', null]])
    expect(await found(namespace, { query: 'plum', limit: 2, offset: 1 }))
      .toEqual([['a', 0.949], ['f', diagonal]])
    expect(await found(namespace, { query: 'plum', filter: { text: { $in: ['tram', 'sea'] } } }))
      .toEqual([['b', 1], ['c', 0]])
    expect(await found([], { query: 'plum', filter: { n: 1 } })).toEqual([['e', null]])
  })

  it('has the vectors of the newest value, and none of what is deleted', async () => {
    const namespace = [randomUUID()]
    await store().putItem(namespace, 'a', { text: 'plum' })
    await store().putItem(namespace, 'b', { text: 'plum' })
    expect(await found(namespace, { query: 'plum' })).toEqual([['b', 1], ['a', 1]])
    await store().putItem(namespace, 'a', { text: 'sea' })
    await store().deleteItem(namespace, 'b')
    expect(await found(namespace, { query: 'plum' })).toEqual([['a', 0]])
    await store().putItem(namespace, 'a', { other: 'plum' })
    expect(await found(namespace, { query: 'plum' })).toEqual([['a', null]])
    await store().putItem(namespace, 'b', { text: 'tram' })
    expect(await found(namespace, { query: 'tram' })).toEqual([['b', 1], ['a', null]])
  })

  it('is the same in a graph', async () => {
    const namespace = [randomUUID()]
    await store().putItem(namespace, 'a', { text: 'plum tram' })
    const { found: items } = await server.client.runs.wait(null, 'find', {
      input: { namespace, query: 'plum' },
    }) as { found: { key: string; score?: number }[] }
    expect(items.map(({ key, score }) => [key, score?.toFixed(3)]))
      .toEqual([['other', '1.000'], ['a', '0.707'], ['hidden', undefined]])
  })
})

it.each([
  ['!throws', 'no model today'],
  ['!short', 'a vector of 2 numbers; store.index.dims is 3'],
  ['!text', 'must return a list of 1 vectors'],
  ['!few', 'must return a list of 1 vectors'],
  ['!nan', 'lists of finite numbers'],
  ['!infinite', 'lists of finite numbers'],
])('an embedding that does %s is 422, and the old value stays whole', async (text, message) => {
  const namespace = [randomUUID()]
  await store().putItem(namespace, 'k', { text: 'plum' })
  const answer = await ask(server.url, 'PUT', '/store/items', { namespace, key: 'k',
    value: { text } })
  expect(answer.status).toBe(422)
  expect(messageOf(answer)).toContain(message)
  expect(await found(namespace, { query: 'plum' })).toEqual([['k', 1]])
})

it('a value with too many texts is 422', async () => {
  const notes = Array.from({ length: 101 }, (_, n) => ({ text: `${n}` }))
  const answer = await ask(server.url, 'PUT', '/store/items', { namespace: ['a'], key: 'k',
    value: { notes } })
  expect(answer.status).toBe(422)
})

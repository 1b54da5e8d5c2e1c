/** The store through the official client: items, searches, namespaces, and what is refused. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { nextMillisecond } from '../support/millisecond.ts'
import { useServer } from '../support/server.ts'
import { ask, messageOf } from '../support/wire.ts'

const server = useServer()
const store = () => server.client.store
const keysOf = ({ items }: { readonly items: readonly { readonly key: string }[] }) =>
  items.map(({ key }) => key)

describe('an item', () => {
  it('is put, got, replaced and deleted', async () => {
    const namespace = ['users', randomUUID()]
    expect(await store().getItem(namespace, 'food')).toBeNull()
    await store().putItem(namespace, 'food', { likes: ['plums'], deep: { a: 1 } })
    const first = await store().getItem(namespace, 'food')
    expect(first).toMatchObject({ namespace, key: 'food',
      value: { likes: ['plums'], deep: { a: 1 } } })
    expect(first!.createdAt).toBe(first!.updatedAt)
    await nextMillisecond()
    await store().putItem(namespace, 'food', { likes: [] })
    const second = await store().getItem(namespace, 'food')
    expect(second).toMatchObject({ value: { likes: [] }, createdAt: first!.createdAt })
    expect(second!.updatedAt > first!.updatedAt).toBe(true)
    await store().deleteItem(namespace, 'food')
    await store().deleteItem(namespace, 'food')
    expect(await store().getItem(namespace, 'food')).toBeNull()
    expect((await store().searchItems(namespace)).items).toEqual([])
    await store().putItem(namespace, 'food', { again: true })
    expect(await store().getItem(namespace, 'food')).toMatchObject({ value: { again: true } })
  })

  it('keeps keys and labels of any characters apart', async () => {
    const root = randomUUID()
    const places = [[[root, 'a'], 'b"]\n,'], [[root, 'a,'], 'b'], [[root, 'a', 'b'], 'ü%_*'], [[
      root,
      'a/',
    ], '.:'], [[root, '__proto__'], '__proto__']] as const
    for (const [index, [namespace, key]] of places.entries()) {
      await store().putItem([...namespace], key, { index })
    }
    for (const [index, [namespace, key]] of places.entries()) {
      expect((await store().getItem([...namespace], key))!.value).toEqual({ index })
    }
    expect((await store().searchItems([root, 'a'])).items).toHaveLength(2)
  })

  it('is got by a repeated parameter too, and never by a part of its namespace', async () => {
    const root = randomUUID()
    await store().putItem([root, 'a,b'], 'k', { here: true })
    const repeated = await ask(server.url, 'GET', `/store/items?key=k&namespace=${root}` +
      '&namespace=a%2Cb')
    expect(repeated.body).toMatchObject({ value: { here: true } })
    const missing = await ask(server.url, 'GET', `/store/items?key=k&namespace=${root}`)
    expect([missing.status, missing.body]).toEqual([200, null])
  })

  it('is never found after its time, which a read moves', async () => {
    const namespace = [randomUUID()]
    await store().putItem(namespace, 'short', { a: 1 }, { ttl: 0.0005 })
    await store().putItem(namespace, 'long', { a: 2 }, { ttl: 60 })
    await store().putItem(namespace, 'ever', { a: 3 }, { ttl: null })
    await expect.poll(() => store().getItem(namespace, 'short', { refreshTtl: false }))
      .toBeNull()
    expect(keysOf(await store().searchItems(namespace)).toSorted()).toEqual(['ever', 'long'])
    await store().putItem([...namespace, 'gone'], 'short', { a: 1 }, { ttl: 0.0001 })
    await expect.poll(async () => (await store().listNamespaces({ prefix: namespace })).namespaces)
      .toEqual([namespace])
  })
})

describe('a search', () => {
  it('finds what is below whole labels, the newest first, in pages', async () => {
    const root = randomUUID()
    const all = ['a', 'b', 'c', 'd']
    for (const key of all) {
      await store().putItem([root, 'x'], key, { key })
      await nextMillisecond()
    }
    await store().putItem([root, 'xy'], 'e', {})
    expect(keysOf(await store().searchItems([root, 'x']))).toEqual(['d', 'c', 'b', 'a'])
    expect(keysOf(await store().searchItems([root], { limit: 2 }))).toEqual(['e', 'd'])
    expect(keysOf(await store().searchItems([root], { limit: 2, offset: 3 }))).toEqual(['b', 'a'])
    const { items } = await store().searchItems([root, 'xy'])
    expect(items[0]).toMatchObject({ score: null, namespace: [root, 'xy'] })
  })

  it('filters by values and operators', async () => {
    const root = randomUUID()
    const values = [{ n: 1, s: 'a', o: { d: [1] } }, { n: 2, s: 'b' }, { n: 10, s: null }]
    for (const [index, value] of values.entries()) await store().putItem([root], `${index}`, value)
    const found = async (filter: Record<string, unknown>) =>
      keysOf(await store().searchItems([root], { filter })).toSorted().join('')
    expect(await found({ n: 1 })).toBe('0')
    expect(await found({ o: { d: [1] } })).toBe('0')
    expect(await found({ n: { $gt: 1 } })).toBe('12')
    expect(await found({ n: { $gte: 2, $lt: 10 } })).toBe('1')
    expect(await found({ n: { $lte: 2 }, s: { $ne: 'a' } })).toBe('1')
    expect(await found({ s: { $in: ['a', 'b'] } })).toBe('01')
    expect(await found({ s: { $nin: ['a', 'b'] } })).toBe('2')
    expect(await found({ s: null })).toBe('2')
    expect(await found({ n: { $eq: 2 } })).toBe('1')
    expect(await found({ missing: 1 })).toBe('')
    expect(await found({ n: { $exists: true } })).toBe('')
  })
})

it('namespaces are listed by first and last labels, cut and in order', async () => {
  const root = randomUUID()
  const all = [['b'], ['a', 'x'], ['a-b', 'x'], ['a', 'y', 'x'], ['c', 'x', 'z']]
  for (const rest of all) {
    await store().putItem([root, ...rest], 'k', {})
    await store().putItem([root, ...rest], 'l', {})
  }
  const list = async (options: object) =>
    (await store().listNamespaces({ prefix: [root], ...options })).namespaces
      .map((labels) => labels.slice(1).join('/'))
  expect(await list({})).toEqual(['a/x', 'a/y/x', 'a-b/x', 'b', 'c/x/z'])
  expect(await list({ suffix: ['x'] })).toEqual(['a/x', 'a/y/x', 'a-b/x'])
  expect(await list({ prefix: [root, '*', 'x'] })).toEqual(['a/x', 'a-b/x', 'c/x/z'])
  expect(await list({ suffix: ['x', '*'] })).toEqual(['c/x/z'])
  expect(await list({ maxDepth: 2 })).toEqual(['a', 'a-b', 'b', 'c'])
  expect(await list({ limit: 2, offset: 1 })).toEqual(['a/y/x', 'a-b/x'])
  await store().deleteItem([root, 'b'], 'k')
  await store().deleteItem([root, 'b'], 'l')
  expect(await list({ prefix: [root, 'b'] })).toEqual([])
})

it.each([
  ['a label with a dot', { namespace: ['a.b'] }],
  ['a label with a colon', { namespace: ['a:b'] }],
  ['a label with NUL', { namespace: ['a\0b'] }],
  ['an empty label', { namespace: ['a', ''] }],
  ['no label', { namespace: [] }],
  ['33 labels', { namespace: Array(33).fill('a') as string[] }],
  ['a long label', { namespace: ['a'.repeat(257)] }],
  ['a label that is no text', { namespace: [1] }],
  ['the first label langgraph', { namespace: ['langgraph', 'a'] }],
  ['an empty key', { key: '' }],
  ['a long key', { key: 'k'.repeat(1_025) }],
  ['no key', { key: undefined }],
  ['no value', { value: undefined }],
  ['a value that is null', { value: null }],
  ['a value that is a list', { value: [] }],
  ['a value that is a text', { value: 'a' }],
  ['an index that is true', { index: true }],
  ['a time that is over', { ttl: -1 }],
  ['a time that is a text', { ttl: '1' }],
])('a put with %s is 422 and writes nothing', async (_, wrong) => {
  const key = randomUUID()
  const answer = await ask(server.url, 'PUT', '/store/items', { namespace: ['bad'], key, value: {},
    ...wrong })
  expect(answer.status).toBe(422)
  expect(messageOf(answer).split(' ').length).toBeGreaterThan(2)
  expect((await store().searchItems(['bad'])).items).toEqual([])
})

it('says when an item ends to who asks for it, and reading it so moves no end', async () => {
  const namespace = ['ends', randomUUID()]
  const put = (key: string, ttl?: number) =>
    store().putItem(namespace, key, { n: 1 }, ttl === undefined ? {} : { ttl })
  await put('never')
  await put('soon', 90)
  const get = async (key: string, more = '&include=ttl&refresh_ttl=false') =>
    (await ask(server.url, 'GET',
      `/store/items?namespace=${namespace.join('.')}&key=${key}${more}`))
      .body as {
        readonly ttl?: { readonly ttl_minutes: number; readonly expires_at: string } | null
      }
  expect((await get('never')).ttl).toBeNull()
  const { ttl } = await get('soon')
  expect(ttl).toEqual({ ttl_minutes: 90, expires_at: expect.any(String) })
  expect(Date.parse(ttl!.expires_at) - Date.now()).toBeGreaterThan(80 * 60_000)
  expect((await get('soon')).ttl).toEqual(ttl)
  expect(await get('soon', '')).not.toHaveProperty('ttl')
  const found = await ask(server.url, 'POST', '/store/items/search', { namespace_prefix: namespace,
    include: ['ttl'], refresh_ttl: false })
  expect(found.body).toMatchObject({ items: [{ key: 'soon', ttl }, { key: 'never', ttl: null }] })
})

it('finds items by words in their labels, keys and values', async () => {
  const root = randomUUID()
  await store().putItem([root, 'ada'], 'food', { likes: 'Plum jam' })
  await store().putItem([root, 'bob'], 'plum', { likes: 'bread' })
  const find = async (q: string) => {
    const { body } = await ask(server.url, 'POST', '/store/items/search', {
      namespace_prefix: [root],
      q,
    })
    return (body as { items: { key: string }[] }).items.map(({ key }) => key).toSorted()
  }
  expect(await find('plum')).toEqual(['food', 'plum'])
  expect(await find('JAM plum')).toEqual(['food'])
  expect(await find('ada')).toEqual(['food'])
  expect(await find('  ')).toEqual(['food', 'plum'])
  expect(await find('pear')).toEqual([])
  const long = await ask(server.url, 'POST', '/store/items/search', { q: 'x'.repeat(501) })
  expect(long.status).toBe(422)
})

it('a value that is too long is 413', async () => {
  const answer = await ask(server.url, 'PUT', '/store/items', { namespace: ['long'], key: 'k',
    value: { text: 'x'.repeat(600_000) } })
  expect(answer.status).toBe(413)
  expect(await store().getItem(['long'], 'k')).toBeNull()
})

/** Searches that only the documents can answer: off the thread that writes, each in its turn. */

import { randomUUID } from 'node:crypto'

import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../../src/errors.ts'
import { embeddedPlace } from '../../../../contract/embedded-place.ts'
import { anAssistant, aThread } from '../../../../contract/rows.ts'
import { useStore } from '../../../../contract/store-place.ts'

const store = useStore(embeddedPlace)
const page = { sortBy: 'created_at', sortOrder: 'asc', limit: 10, offset: 0 } as const

/** About 60 KB of metadata, which contains `{big: {y}}`. */
const longDocument = (y: number) =>
  JSON.stringify({ big: { y, x: Array.from({ length: 6_000 }, (_, n) => 1_000_000 + n) } })

async function putThreads(tenant: string, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, n) =>
    store.log.append([], [{
      table: 'thread',
      row: aThread({ tenant, createdAtMs: n, metadataJson: longDocument(n % 3) }),
    }])))
}

describe('a filter that tokens cannot decide', () => {
  it('finds what was acknowledged before, page by page and in order', async () => {
    const tenant = randomUUID()
    await putThreads(tenant, 30)
    const metadata = { big: { y: 1 } }
    expect(await store.threads.count({ tenant, metadata })).toBe(10)
    const found = await store.threads.search({ ...page, tenant, metadata, offset: 4, limit: 3 })
    expect([found.total, found.rows.map(({ createdAtMs }) => createdAtMs)])
      .toEqual([10, [13, 16, 19]])
    const late = aThread({ tenant, createdAtMs: 1_000, metadataJson: longDocument(1) })
    const written = store.log.append([], [{ table: 'thread', row: late }])
    expect(await store.threads.count({ tenant, metadata })).toBe(11)
    await written
    expect((await store.threads.search({ ...page, tenant, metadata, sortBy: 'status' })).total)
      .toBe(11)
  })

  it('finds assistants with much metadata', async () => {
    const tenant = randomUUID()
    for (let n = 0; n < 9; n++) {
      const row = anAssistant({ tenant, createdAtMs: n, metadataJson: longDocument(n % 3) })
      await store.log.append([], [{ table: 'assistant', row }])
    }
    const metadata = { big: { y: 2 } }
    expect(await store.assistants.count({ tenant, metadata })).toBe(3)
    const { rows } = await store.assistants.search({ ...page, tenant, metadata, offset: 1 })
    expect(rows.map(({ createdAtMs }) => createdAtMs)).toEqual([5, 8])
  })

  it('delays no write, and other tenants by no more than a slice', async () => {
    const [much, little] = [randomUUID(), randomUUID()]
    await putThreads(much, 400)
    await putThreads(little, 1)
    const metadata = { big: { y: 5 } }
    const order: string[] = []
    const note = (what: string) => () => void order.push(what)
    const [first, second] = [1, 2].map((n) =>
      store.threads.count({ tenant: much, metadata }).then(note(`much ${n}`))
    )
    const others = [
      store.threads.count({ tenant: little, metadata }).then(note('little')),
      store.log.append([], [{ table: 'thread', row: aThread() }]).then(note('write')),
    ]
    await Promise.all(others)
    expect(order.toSorted()).toEqual(['little', 'write'])
    await first
    expect(order).toHaveLength(3)
    await second
    expect(order.slice(2)).toEqual(['much 1', 'much 2'])
  })

  it('ends when nobody waits for it, and the next search of the tenant begins', async () => {
    const tenant = randomUUID()
    await putThreads(tenant, 200)
    const metadata = { big: { y: 0 } }
    const left = new AbortController()
    const given = store.threads.count({ tenant, metadata }, left.signal)
    const waiting = store.threads.count({ tenant, metadata }, left.signal)
    const next = store.threads.count({ tenant, metadata })
    await store.threads.count({ tenant })
    left.abort(new HeddleError('unavailable', 'The caller has left.'))
    for (const each of [given, waiting]) {
      await expect(each).rejects.toMatchObject({ message: 'The caller has left.' })
    }
    expect(await next).toBe(67)
  })
})

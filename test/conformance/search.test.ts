/** Thread search and count: filters, order, pages, and writes that are found at once. */

import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { useGates } from '../support/gate.ts'
import { startHeld } from '../support/held-run.ts'
import { nextMillisecond } from '../support/millisecond.ts'
import { say } from '../support/run-events.ts'
import { useTenant } from '../support/tenant.ts'

/** A tenant of its own: all threads are counted here. */
const server = useTenant()
const gate = useGates()
const team = randomUUID()
/** Thread ids in the order of creation: empty, talked, failed, waiting. */
const ids: string[] = []

beforeAll(async () => {
  const { runs, threads } = server.client
  for (const [n, kind] of ['empty', 'talked', 'failed', 'waiting'].entries()) {
    const metadata = { team, kind, n, deep: { a: { b: n } }, tags: ['x', kind] }
    ids.push((await threads.create({ metadata })).thread_id)
    await nextMillisecond()
  }
  await runs.wait(ids[1]!, 'steps', { input: { topic: 'cats' } })
  await runs.wait(ids[2]!, 'failing', { input: { topic: 'bad' }, raiseError: false })
  await runs.wait(ids[3]!, 'ask', { input: { question: 'q' } })
})

/** Positions in `ids` of what is found. */
async function found(query: Parameters<typeof server.client.threads.search>[0]) {
  const threads = await server.client.threads.search({ sortBy: 'created_at', sortOrder: 'asc',
    ...query, metadata: { team, ...query?.metadata } })
  return threads.map(({ thread_id }) => ids.indexOf(thread_id))
}

describe('a search', () => {
  it('finds threads by metadata, by equal scalars and contained objects', async () => {
    expect(await found({})).toEqual([0, 1, 2, 3])
    expect(await found({ metadata: { kind: 'talked' } })).toEqual([1])
    expect(await found({ metadata: { n: 2 } })).toEqual([2])
    expect(await found({ metadata: { n: '2' } })).toEqual([])
    expect(await found({ metadata: { deep: { a: { b: 3 } } } })).toEqual([3])
    expect(await found({ metadata: { deep: { a: {} } } })).toEqual([0, 1, 2, 3])
    expect(await found({ metadata: { graph_id: 'steps' } })).toEqual([1])
    expect(await found({ metadata: { nosuch: null } })).toEqual([])
  })

  it('is refused with 422 for a filter that would take very long', async () => {
    const parts = Array.from({ length: 65 }, (_, n) => ({ n }))
    for (const filter of [{ metadata: { parts } }, { values: { parts } }]) {
      const { status, body } = await server.ask('POST', '/threads/search', filter)
      expect([status, body]).toEqual([422, expect.objectContaining({
        message: expect.stringContaining('64 objects or lists inside of lists'),
      })])
    }
  })

  it('finds threads by status', async () => {
    expect(await found({ status: 'idle' })).toEqual([0, 1])
    expect(await found({ status: 'error' })).toEqual([2])
    expect(await found({ status: 'interrupted' })).toEqual([3])
    expect(await found({ status: 'busy' })).toEqual([])
  })

  it('finds threads by ids, together with other conditions', async () => {
    expect(await found({ ids: [ids[0]!, ids[2]!, randomUUID()] })).toEqual([0, 2])
    expect(await found({ ids: [ids[0]!, ids[2]!], status: 'error' })).toEqual([2])
  })

  it('is not limited to ids by an empty list of them', async () => {
    const query = { metadata: { team }, limit: 1_000 }
    const all = await server.ask('POST', '/threads/search', query)
    expect((await server.ask('POST', '/threads/search', { ...query, ids: [] })).body)
      .toEqual(all.body)
    expect(all.body).not.toEqual([])
  })

  it('finds threads by values, and only those that have them', async () => {
    expect(await found({ values: { topic: 'cats' } })).toEqual([1])
    expect(await found({ values: { log: ['a:cats', 'b:cats', 'c:cats'] } })).toEqual([1])
    expect(await found({ values: { nosuch: 1 } })).toEqual([])
    expect(await server.client.threads.count({ metadata: { team }, values: { topic: 'cats' } }))
      .toBe(1)
  })

  it('answers whole threads', async () => {
    const [thread] = await server.client.threads.search({ ids: [ids[1]!] })
    expect(thread).toEqual(await server.client.threads.get(ids[1]!))
  })

  it('answers only the fields that were asked for', async () => {
    const [thread] = await server.client.threads.search({
      ids: [ids[1]!],
      select: ['thread_id', 'status', 'metadata'],
    })
    expect(Object.keys(thread!).sort()).toEqual(['metadata', 'status', 'thread_id'])
  })

  it('extracts values by path', async () => {
    const [thread] = await server.client.threads.search({
      ids: [ids[1]!],
      select: ['thread_id'],
      extract: { last: 'values.log[-1]', kind: 'metadata.kind', none: 'values.nosuch' },
    })
    expect(thread).toMatchObject({ extracted: { last: 'c:cats', kind: 'talked', none: null } })
  })
})

describe('the order of a search', () => {
  it('is newest created first by default', async () => {
    const threads = await server.client.threads.search({ metadata: { team } })
    expect(threads.map(({ thread_id }) => thread_id)).toEqual(ids.toReversed())
  })

  it.each(['thread_id', 'status', 'created_at', 'updated_at', 'state_updated_at'] as const)(
    'is by %s, up or down',
    async (sortBy) => {
      const { threads } = server.client
      const fields = async (sortOrder: 'asc' | 'desc') =>
        (await threads.search({ metadata: { team }, sortBy, sortOrder }))
          .map((thread) => thread[sortBy])
      const up = await fields('asc')
      expect(up).toEqual(up.toSorted())
      expect(await fields('desc')).toEqual(up.toReversed())
    },
  )
})

describe('the pages of a search', () => {
  const page = (limit: number, offset: number) =>
    server.ask('POST', '/threads/search', {
      metadata: { team },
      sort_by: 'created_at',
      sort_order: 'asc',
      limit,
      offset,
    })

  it.each([[1, 0], [3, 0], [4, 0], [5, 0], [2, 2], [2, 3], [10, 1_000]])(
    'of %i from %i say the total, and where the next one begins',
    async (limit, offset) => {
      const answer = await page(limit, offset)
      const expected = ids.slice(offset, offset + limit)
      expect((answer.body as { thread_id: string }[]).map((thread) => thread.thread_id))
        .toEqual(expected)
      expect(answer.headers.get('x-pagination-total')).toBe('4')
      const next = offset + limit < ids.length ? String(offset + limit) : null
      expect(answer.headers.get('x-pagination-next')).toBe(next)
    },
  )

  it('hold ten threads by default', async () => {
    const many = randomUUID()
    await Promise.all(
      Array.from({ length: 12 }, () => server.client.threads.create({ metadata: { many } })),
    )
    expect(await server.client.threads.search({ metadata: { many } })).toHaveLength(10)
    expect(await server.client.threads.count({ metadata: { many } })).toBe(12)
  })
})

describe('a write', () => {
  it('is found by the search that follows it', async () => {
    const { runs, threads } = server.client
    const count = (status?: 'busy' | 'idle') =>
      threads.count({ metadata: { fresh }, ...status && { status } })
    const fresh = randomUUID()
    const { thread_id: id } = await threads.create()
    for (let n = 0; n < 20; n += 1) {
      await threads.update(id, { metadata: { fresh, n } })
      expect(await threads.search({ metadata: { fresh, n } })).toHaveLength(1)
    }
    const hold = gate()
    const run = await startHeld(server.client, id, hold)
    expect(await count('busy')).toBe(1)
    hold.open()
    await runs.join(id, run.runId)
    expect([await count('busy'), await count('idle')]).toEqual([0, 1])
    await threads.delete(id)
    expect(await count()).toBe(0)
  })

  it('of a stateless run leaves no thread for a search to find', async () => {
    const { runs, threads } = server.client
    const before = await threads.count()
    await runs.wait(null, 'echo', { input: say('x'), metadata: { team } })
    expect(await threads.count()).toBe(before)
  })
})

describe('a search that makes no sense', () => {
  it.each([
    { limit: 0 },
    { limit: 1_001 },
    { limit: 'ten' },
    { offset: -1 },
    { status: 'asleep' },
    { sort_by: 'colour' },
    { sort_order: 'sideways' },
    { metadata: 'x' },
    { ids: 'x' },
    { ids: ['not a uuid'] },
    { select: ['colour'] },
  ])('is refused with 422: %j', async (body) => {
    expect((await server.ask('POST', '/threads/search', body)).status).toBe(422)
  })

  it.each(['threads', 'assistants'])('is refused for an absurd offset: %s', async (kind) => {
    const body = { offset: Number.MAX_VALUE }
    expect((await server.ask('POST', `/${kind}/search`, body)).status).toBe(422)
  })
})

describe('a cursor', () => {
  type Thread = { readonly thread_id: string }
  const page = async (body: object) => {
    const { body: rows, headers, status } = await server.ask('POST', '/threads/search', {
      metadata: { team },
      select: ['thread_id'],
      ...body,
    })
    return { ids: status === 200 ? (rows as Thread[]).map((each) => each.thread_id) : [],
      cursor: headers.get('x-pagination-cursor'), status }
  }

  it.each(['thread_id', 'status', 'created_at', 'updated_at'])(
    'goes through all threads by %s, although others are made meanwhile',
    async (sort_by) => {
      for (const sort_order of ['asc', 'desc']) {
        const sorted = { sort_by, sort_order }
        const all = await page(sorted)
        expect(all).toMatchObject({ cursor: null, status: 200 })
        const seen: string[] = []
        const made: string[] = []
        let next: string | null = null
        do {
          const { ids: found, cursor }: Awaited<ReturnType<typeof page>> = await page({ ...sorted,
            limit: 1, ...next !== null && { cursor: next } })
          seen.push(...found)
          next = cursor
          if (made.length === 3) continue
          made.push((await server.client.threads.create({ metadata: { team } })).thread_id)
        } while (next !== null)
        expect(seen.filter((id) => all.ids.includes(id))).toEqual(all.ids)
        expect(new Set(seen).size).toBe(seen.length)
        for (const id of made) await server.client.threads.delete(id)
      }
    },
  )

  it('is refused for another order, with an offset, and if it is none', async () => {
    const { cursor } = await page({ limit: 1 })
    for (const body of [{ cursor, sort_by: 'status' }, { cursor, offset: 1 }, { cursor: 'x' }]) {
      expect((await page(body)).status).toBe(422)
    }
    expect((await page({ cursor })).ids).toEqual(ids.toReversed().slice(1))
  })
})

describe('the time of an update', () => {
  it('narrows a search and a count', async () => {
    const { updated_at } = await server.client.threads.get(ids[2]!)
    const find = async (body: object) =>
      (await server.ask('POST', '/threads/search', { metadata: { team }, ...body }))
        .body as { thread_id: string; updated_at: string }[]
    const later = await find({ updated_after: updated_at })
    expect(later.map(({ thread_id }) => thread_id)).toEqual([ids[3]])
    const earlier = await find({ updated_before: updated_at, sort_by: 'updated_at' })
    expect(earlier.map(({ thread_id }) => thread_id)).toEqual([ids[1], ids[0]])
    const { status } = await server.ask('POST', '/threads/search', { updated_after: 'soon' })
    expect(status).toBe(422)
  })
})

describe('a count by status', () => {
  it('has the number of threads of each status', async () => {
    const count = async (body: object) =>
      (await server.ask('POST', '/threads/count', { by: 'status', ...body })).body
    expect(await count({ metadata: { team } }))
      .toEqual({ idle: 2, busy: 0, interrupted: 1, error: 1 })
    expect(await count({ metadata: { team }, status: 'error' }))
      .toEqual({ idle: 0, busy: 0, interrupted: 0, error: 1 })
    const { status } = await server.ask('POST', '/threads/count', { by: 'status',
      values: { topic: 'cats' } })
    expect(status).toBe(422)
  })
})

describe('words', () => {
  const find = async (q: string, body: object = {}) => {
    const { body: rows } = await server.ask('POST', '/threads/search', { q, ...body })
    return (rows as { thread_id: string }[]).map(({ thread_id }) => thread_id)
  }

  it('of the title, of what was said first and of the id find a thread', async () => {
    const { threads, runs } = server.client
    const { thread_id: id } = await threads.create({ metadata: { title: 'Trip to Ærø' } })
    expect(await find('trip ÆR')).toEqual([id])
    await runs.wait(id, 'echo', { input: say('Where is the lighthouse?') })
    await runs.wait(id, 'echo', { input: say('Second question') })
    expect(await find('light trip')).toEqual([id])
    expect(await find('second')).toEqual([])
    expect(await find(id.slice(0, 20))).toEqual([id])
    expect(await find('light', { status: 'idle', metadata: { title: 'Trip to Ærø' } })).toEqual([
      id,
    ])
    expect(await find('light', { status: 'error' })).toEqual([])
    const { body: count } = await server.ask('POST', '/threads/count', { q: 'lighthouse' })
    expect(count).toBe(1)
    await threads.update(id, { metadata: { title: 'Renamed' } })
    expect(await find('trip')).toEqual([])
    expect(await find('renamed where')).toEqual([id])
    await threads.delete(id)
    expect(await find('renamed')).toEqual([])
  })

  it('are needed in a query, and few', async () => {
    for (const q of ['', ' ?! ', 'x'.repeat(201)]) {
      expect((await server.ask('POST', '/threads/search', { q })).status).toBe(422)
    }
  })
})

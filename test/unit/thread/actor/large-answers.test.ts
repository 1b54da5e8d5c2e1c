/** Answers about many or large states: read a few at a time, in order, and only until full. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { describe, expect, it } from 'vitest'

import { encodeRow } from '../../../../src/checkpoint/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import type { SnapshotAnswer, StateQuestion } from '../../../../src/graph/index.ts'
import { ReadQuota } from '../../../../src/limits/read-quota.ts'
import { createThreadClient } from '../../../../src/thread/index.ts'
import type { ThreadView } from '../../../../src/thread/index.ts'
import { aThread } from '../../../contract/rows.ts'
import { historyText } from '../../../support/history-text.ts'
import { ThreadHouse } from '../../../support/thread-house.ts'

const megabyte = 1024 * 1024
/** How many states of five megabytes fit one answer. */
const fitting = Math.floor(128 / 5)
/** How many are read at the same time. */
const atOnce = 16

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** A client of threads that only answer with their values, and counts of what is read and held. */
function threadsWith(count: number, valuesOf: (n: number) => string) {
  const rows = Array.from({ length: count }, (_, n) => aThread({ threadId: String(n) }))
  const seen = { begun: 0, underWay: 0, most: 0, mostHeld: 0 }
  const held: WeakRef<ThreadView>[] = []
  const look = () => {
    collect()
    const alive = held.filter((each) => each.deref() !== undefined).length
    seen.mostHeld = Math.max(seen.mostHeld, alive)
  }
  const router = {
    follow: () => Promise.reject(new Error('nobody follows')),
    ask: async ({ id }: { id: string }, { most = Infinity }: { most?: number }) => {
      const n = Number(id)
      if (valuesOf(n).length > most) throw new HeddleError('too_large')
      seen.most = Math.max(seen.most, ++seen.underWay)
      // A collection takes long: what is held too long is more by then.
      if (seen.begun++ % 70 === 69) look()
      // Some later threads are answered before earlier ones.
      for (let turn = n % 3; turn < 3; turn++) await new Promise(setImmediate)
      seen.underWay--
      const view: ThreadView = { row: rows[n]!, values: valuesOf(n) }
      held.push(new WeakRef(view))
      return view
    },
  }
  const threads = {
    search: async ({ offset, limit }: { offset: number; limit: number }) => ({
      rows: rows.slice(offset, offset + limit),
      total: rows.length,
    }),
    count: async () => rows.length,
  }
  const { env } = new ThreadHouse()
  const client = createThreadClient({
    router,
    threads,
    newThreadId: () => 'copy',
    env,
    reads: new ReadQuota(env),
  })
  return { client, seen }
}

const page = { tenant: 't', sortBy: 'created_at', sortOrder: 'desc', offset: 0 } as const
const parity = (n: number) => JSON.stringify({ even: n % 2 === 0 })
const idOf = ({ row }: ThreadView) => Number(row.threadId)

describe('a search', () => {
  it('reads a few threads at a time, and returns them in order', async () => {
    const { client, seen } = threadsWith(200, parity)
    const { threads, total } = await client.search({ ...page, limit: 150 }, idOf)
    expect(threads).toEqual(Array.from({ length: 150 }, (_, n) => n))
    expect(total).toBe(200)
    expect(seen.begun).toBe(150)
    expect(seen.most).toBe(atOnce)
    expect(seen.mostHeld).toBeLessThanOrEqual(2 * atOnce)
  })

  it('reads the threads of a small page all at once', async () => {
    const { client, seen } = threadsWith(10, parity)
    await client.search({ ...page, limit: 10 }, idOf)
    expect(seen.most).toBe(10)
  })

  it('is refused once the answer is full, and reads no further', async () => {
    const values = `"${'x'.repeat(5 * megabyte)}"`
    const { client, seen } = threadsWith(1_000, () => values)
    using quota = new ReadQuota(new ThreadHouse().env).share('t')
    const answer = client.search({ ...page, limit: 1_000 }, (view) => quota.take(view.values))
    await expect(answer).rejects.toMatchObject({ code: 'too_large', httpStatus: 413 })
    expect(seen.begun).toBeLessThanOrEqual(fitting + 1 + atOnce)
  })

  it('reads long states one by one, and so do all searches of a tenant together', async () => {
    const { client, seen } = threadsWith(6, () => `"${'x'.repeat(2 * megabyte)}"`)
    const searches = [1, 2, 3].map(() => client.search({ ...page, limit: 6 }, idOf))
    for (const { threads } of await Promise.all(searches)) expect(threads).toHaveLength(6)
    expect(seen.most).toBe(1)
  })

  it('by values keeps only a page of the matching threads, and counts all of them', async () => {
    const { client, seen } = threadsWith(150, parity)
    const { threads, total } = await client.search(
      { ...page, offset: 3, limit: 4, values: { even: true } },
      idOf,
    )
    expect([threads, total]).toEqual([[6, 8, 10, 12], 75])
    expect(seen.most).toBe(atOnce)
    expect(seen.mostHeld).toBeLessThanOrEqual(2 * atOnce)
  })
})

describe('a count by values', () => {
  it('keeps none of what it counts', async () => {
    const { client, seen } = threadsWith(150, parity)
    expect(await client.count({ tenant: 't', values: { even: true } })).toBe(75)
    expect([seen.begun, seen.most]).toEqual([150, atOnce])
    expect(seen.mostHeld).toBeLessThanOrEqual(2 * atOnce)
  })
})

/** A thread with `count` states, and the questions that its graph host was asked. */
async function threadWithStates(count: number, values: string) {
  const house = new ThreadHouse()
  await house.startRun('x')
  await house.host.step(house.host.only, 'one')
  house.host.end(house.host.only)
  const asked: (StateQuestion & { kind: 'history' })[] = []
  const seen = { read: 0 }
  let rolledBackAt = 0
  const rollBackAt = (call: number) => {
    rolledBackAt = call
  }
  let sought = ''
  house.log.findCheckpoint = async (_branch, id) => {
    sought = id
    return { id, seq: asked.length === rolledBackAt ? 0 : 1, base: 1 }
  }
  house.log.read =
    async () => [{ epoch: 1, seq: 1,
      body: encodeRow([{ $case: 'checkpoint',
        value: { ns: '', id: sought, parentId: '', full: true, changes: [], skeletonJson: '{}',
          metadataJson: '{}', runId: '', atMs: 0 } }]) }]
  const all = Array.from({ length: count },
    (_, n): SnapshotAnswer => ({ checkpointId: `c${n}`, json: `{"n":${n}}`, valuesOf: '', values }))
  Object.assign(house.host, {
    ask: async (_graph: string, _thread: string, question: StateQuestion & { kind: 'history' }) => {
      asked.push(question)
      const from = all.findIndex(({ checkpointId }) => checkpointId === question.before) + 1
      const answers = all.slice(from, from + question.limit)
      seen.read += answers.length
      return answers
    },
  })
  const parts = (limit: number, cancelled?: AbortSignal) =>
    house.client.history('t', 'x', { checkpointId: null, checkpointNs: '', before: null, limit,
      metadata: null }, cancelled)
  const history = (limit: number) => historyText(parts(limit))
  return { history, parts, asked, seen, rollBackAt, reads: house.reads }
}

describe('a history', () => {
  it('is read in batches of states, each behind the last', async () => {
    const { history, asked } = await threadWithStates(100, '1')
    const numbers = async (limit: number) =>
      (JSON.parse(await history(limit)) as { n: number }[]).map(({ n }) => n)
    expect(await numbers(20)).toEqual(Array.from({ length: 20 }, (_, n) => n))
    expect(asked.map(({ before, limit }) => [before, limit])).toEqual([[null, 16], ['c15', 4]])
    asked.length = 0
    expect(await numbers(1_000)).toEqual(Array.from({ length: 100 }, (_, n) => n))
    expect(asked.map(({ before, limit }) => [before, limit]))
      .toEqual([[null, 16], ['c15', 64], ['c79', 64]])
  })

  it('begins again if a rollback took away the state that it had come to', async () => {
    const { history, asked, rollBackAt } = await threadWithStates(20, '1')
    rollBackAt(2)
    expect(JSON.parse(await history(50))).toHaveLength(20)
    expect(asked.map(({ before, limit }) => [before, limit]))
      .toEqual([[null, 16], ['c15', 34], [null, 16], ['c15', 34]])
  })

  it('of few states is read in one batch', async () => {
    const { history, asked } = await threadWithStates(50, '1')
    await history(10)
    expect(asked).toHaveLength(1)
  })

  it('of large states comes in parts of a few states, each read when it is asked for', async () => {
    const { parts, asked, seen } = await threadWithStates(100, `"${'x'.repeat(5 * megabyte)}"`)
    const history = parts(100)
    const first = await history.next()
    expect(first.value).toMatchObject({ states: { length: 16 }, isLast: false })
    expect([seen.read, asked.length]).toEqual([16, 1])
    const second = await history.next()
    expect(second.value).toMatchObject({ isLast: false })
    expect([seen.read, asked.at(-1)!.limit]).toEqual([22, 3])
    await history.return()
    await new Promise(setImmediate)
    expect(seen.read).toBe(22)
  })

  it('takes memory as long as its part is used', async () => {
    const { parts, reads } = await threadWithStates(20, `"${'x'.repeat(megabyte)}"`)
    const history = parts(20)
    await history.next()
    expect(reads.stats.bytes).toBeGreaterThan(16 * megabyte)
    await history.return()
    expect(reads.stats.bytes).toBe(0)
  })

  it('stops when nobody waits for it any more', async () => {
    const { parts, seen } = await threadWithStates(100, `"${'x'.repeat(5 * megabyte)}"`)
    const left = new AbortController()
    const history = parts(100, left.signal)
    await history.next()
    left.abort(new HeddleError('unavailable', 'The caller has left.'))
    await expect(history.next()).rejects.toMatchObject({ message: 'The caller has left.' })
    expect(seen.read).toBe(16)
  })
})

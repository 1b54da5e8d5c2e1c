/** Pruning and cancelling what matches a filter, and counting it before. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useGates } from '../support/gate.ts'
import { startHeld } from '../support/held-run.ts'
import { say } from '../support/run-events.ts'
import { useTenant } from '../support/tenant.ts'

const server = useTenant()
const gate = useGates()

const post = async (path: string, body: object) => {
  const answer = await server.ask('POST', path, body)
  return [answer.status, answer.body]
}

/** Idle threads with these metadata, and one that is busy until the gate opens. */
async function someThreads(metadata: Record<string, string>, idle: number) {
  const { threads } = server.client
  const made = await Promise.all(
    Array.from({ length: idle + 1 }, () => threads.create({ metadata })),
  )
  const hold = gate()
  const busy = made.pop()!.thread_id
  const run = await startHeld(server.client, busy, hold)
  return { ids: made.map(({ thread_id }) => thread_id), busy, hold, run }
}

describe('a prune by filter', () => {
  it('counts what it would delete, then deletes that and nothing else', async () => {
    const metadata = { batch: randomUUID() }
    const { threads } = server.client
    const { busy, hold, run } = await someThreads(metadata, 120)
    const other = (await threads.create()).thread_id
    const prune = (body: object) => post('/threads/prune', { filter: { metadata }, ...body })
    expect(await prune({ dry_run: true })).toEqual([200, { count: 120, dry_run: true }])
    expect(await threads.count({ metadata })).toBe(121)
    expect(await prune({ filter: { metadata, q: 'nothing' } }))
      .toEqual([200, { pruned_count: 0, remaining: 0 }])
    expect(await prune({ filter: { metadata, status: 'busy' } }))
      .toEqual([200, { pruned_count: 0, remaining: 0 }])
    expect(await prune({})).toEqual([200, { pruned_count: 120, remaining: 0 }])
    expect((await threads.search({ metadata })).map(({ thread_id }) => thread_id)).toEqual([busy])
    expect((await threads.get(other)).thread_id).toBe(other)
    hold.open()
    await server.client.runs.join(busy, run.runId)
  })

  it('drops the history of all that match', async () => {
    const metadata = { batch: randomUUID() }
    const { threads, runs } = server.client
    const { thread_id: id } = await threads.create({ metadata })
    for (const text of ['a', 'b']) await runs.wait(id, 'echo', { input: say(text) })
    const filter = { metadata, updated_after: '2020-01-01T00:00:00Z' }
    expect(await post('/threads/prune', { filter, strategy: 'keep_latest' }))
      .toEqual([200, { pruned_count: 1, remaining: 0 }])
    expect(await threads.getHistory(id)).toHaveLength(1)
    expect(await post('/threads/prune', { thread_ids: [id, randomUUID()], dry_run: true }))
      .toEqual([200, { count: 1, dry_run: true }])
  })

  it.each([{}, { filter: {} }, { filter: { metadata: {} } }, {
    filter: { status: 'idle', updated_befor: '2020-01-01' },
  }, {
    filter: { status: null },
  }, { filter: { status: 'asleep' } }, { filter: { status: 'idle' }, thread_ids: [randomUUID()] }, {
    filter: { status: 'idle', updated_before: 'soon' },
  }])(
    'is refused if it does not say what to delete: %j',
    async (body) => {
      const before = await server.client.threads.count()
      expect((await post('/threads/prune', body))[0]).toBe(422)
      expect(await server.client.threads.count()).toBe(before)
    },
  )
})

describe('a cancel by filter', () => {
  it('counts runs, then cancels those of matching threads only', async () => {
    const metadata = { batch: randomUUID() }
    const [mine, other] = [await someThreads(metadata, 1), await someThreads({}, 0)]
    await server.client.runs.create(mine.busy, 'echo', { input: say('waits') })
    const cancel = (body: object) => post('/runs/cancel', { filter: { metadata }, ...body })
    expect(await cancel({ dry_run: true })).toEqual([200, { count: 2, dry_run: true }])
    expect(await cancel({ dry_run: true, status: 'pending' }))
      .toEqual([200, { count: 1, dry_run: true }])
    expect(await cancel({ filter: { metadata, status: 'idle' } })).toEqual([204, undefined])
    expect(await cancel({ dry_run: true })).toEqual([200, { count: 2, dry_run: true }])
    expect(await cancel({})).toEqual([204, undefined])
    const statuses = async (id: string) =>
      (await server.client.runs.list(id)).map(({ status }) => status)
    expect(await statuses(mine.busy)).toEqual(['interrupted', 'interrupted'])
    expect(await statuses(other.busy)).toEqual(['running'])
    mine.hold.open()
    other.hold.open()
    await server.client.runs.join(other.busy, other.run.runId)
  })

  it.each([{ dry_run: true }, { filter: {} }, { filter: { metadata: {} } }])(
    'is refused if it does not say which: %j',
    async (body) => expect((await post('/runs/cancel', body))[0]).toBe(422),
  )
})

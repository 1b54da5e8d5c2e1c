/** Rows that are loaded and unloaded by shard: all rows of covered shards are found, no others. */

import { randomUUID } from 'node:crypto'

import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { actorKeyText, shardOf } from '../../../../../cluster/index.ts'
import { AssistantRow, ThreadRow } from '../../../../../proto/gen/storage/v1/row.ts'
import { noUse } from '../../../../../src/limits/index.ts'
import type { IndexQuestion } from '../../../../../src/search/index.ts'
import { openScratchStore } from '../../../../../src/store/embedded/index.ts'
import type { EncodedRow, ScratchStore } from '../../../../../src/store/embedded/index.ts'
import { embeddedPlace } from '../../../../contract/embedded-place.ts'
import { anAssistant, aThread } from '../../../../contract/rows.ts'
import { virtualEnv } from '../../../../support/env.ts'
import { expectAlways } from '../../../../support/expect-always.ts'

const shards = 4

const encodedThread = (row: ThreadRow): EncodedRow => ({ table: 'thread',
  body: ThreadRow.encode(row).finish() })
const encodedAssistant = (row: AssistantRow): EncodedRow => ({ table: 'assistant',
  body: AssistantRow.encode(row).finish() })

function idIn(shard: number, kind: string, tenant: string): string {
  for (;;) {
    const id = randomUUID()
    if (shardOf(actorKeyText({ kind, tenant, id }), shards) === shard) return id
  }
}

function threadIn(shard: number, row: Partial<ThreadRow> & { tenant: string }): ThreadRow {
  return aThread({ threadId: idIn(shard, 'thread', row.tenant), ...row })
}

const place = embeddedPlace()
let store: ScratchStore
beforeAll(async () => {
  store = await openScratchStore({ directory: place.directory, env: virtualEnv(), shards })
})
afterAll(async () => {
  await store.close()
  await place.remove()
})

async function loadAll(shard: number, rows: readonly EncodedRow[]): Promise<void> {
  await store.load(shard, rows)
  await store.cover(shard)
}

describe('rows of a shard', () => {
  it('are found by every kind of search while their shard is covered, and not otherwise',
    async () => {
      const tenant = randomUUID()
      const metadata = { user: 'a' }
      const rows = [0, 1].map((shard) =>
        [1, 2, 3].map((createdAtMs) =>
          threadIn(shard, {
            tenant,
            createdAtMs,
            status: createdAtMs === 2 ? 'busy' : 'idle',
            metadataJson: JSON.stringify(metadata),
          })
        )
      )
      const assistant = anAssistant({ tenant, assistantId: idIn(0, 'assistant', tenant),
        storedBytes: 7 })
      await loadAll(0, [...rows[0]!.map(encodedThread), encodedAssistant(assistant)])
      await loadAll(1, rows[1]!.map(encodedThread))
      const totals = async () =>
        Promise.all([
          store.threads.count({ tenant }),
          store.threads.count({ tenant, metadata }),
          store.threads.count({ tenant, status: 'busy' }),
          store.assistants.count({ tenant }),
        ])
      expect(await totals()).toEqual([6, 6, 2, 1])
      expect((await store.loaded()).toSorted()).toEqual([0, 1])
      expect((await store.use(tenant)).bytes).toBe(7)
      await store.uncover(0)
      expect(await totals()).toEqual([3, 3, 1, 0])
      expect(await store.loaded()).toEqual([1])
      expect((await store.use(tenant)).bytes).toBe(0)
      await store.unload(0)
      expect(await totals()).toEqual([3, 3, 1, 0])
      expect(await store.loaded()).toEqual([1])
      const page = await store.threads.search({ tenant, metadata, sortBy: 'created_at',
        sortOrder: 'asc', limit: 10, offset: 0 })
      expect(page).toEqual({ rows: rows[1], total: 3 })
      expect(await store.threads.get(tenant, rows[0]![0]!.threadId)).toBeUndefined()
      await store.unload(1)
      expect(await totals()).toEqual([0, 0, 0, 0])
    })

  it('are found in documents as well, with the shards that were searched', async () => {
    const tenant = randomUUID()
    const metadataJson = JSON.stringify({ user: { name: 'a' } })
    for (const shard of [2, 3]) {
      await loadAll(shard, [encodedThread(threadIn(shard, { tenant, metadataJson }))])
    }
    const question = { kind: 'thread_count', query: { tenant, metadata: { user: { name: 'a' } } } }
    const answer = async () => {
      const { total, covered } = await store.answer(question as IndexQuestion)
      return [total, covered.toSorted()]
    }
    expect(await answer()).toEqual([2, [2, 3]])
    await store.uncover(2)
    expect(await answer()).toEqual([1, [3]])
    await store.unload(2)
    await store.unload(3)
    expect(await answer()).toEqual([0, []])
  })

  it('are found as in a model, in whatever order shards are loaded and unloaded', async () => {
    const shard = fc.constantFrom(0, 1, 2, 3)
    const user = fc.constantFrom('a', 'b')
    const step = fc.oneof(
      fc.record({ do: fc.constant('load' as const), shard,
        users: fc.array(user, { maxLength: 4 }) }),
      fc.record({ do: fc.constant('put' as const), shard, user, busy: fc.boolean() }),
      fc.record({ do: fc.constantFrom('cover' as const, 'uncover' as const, 'unload' as const),
        shard }),
    )
    await expectAlways(fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const tenant = randomUUID()
      const model = new Map<number, { readonly rows: ThreadRow[]; covered: boolean }>()
      const rowOf = (where: number, name: string, status = 'idle') =>
        threadIn(where, { tenant, status, metadataJson: JSON.stringify({ user: name }),
          storedBytes: 10 })
      for (const each of steps) {
        const known = model.get(each.shard)
        if (each.do === 'load') {
          const rows = each.users.map((name) => rowOf(each.shard, name))
          await store.load(each.shard, rows.map(encodedThread))
          model.set(each.shard, { rows, covered: false })
        } else if (each.do === 'put') {
          if (known === undefined) continue
          const row = rowOf(each.shard, each.user, each.busy ? 'busy' : 'idle')
          await store.log.append([], [{ table: 'thread', row }])
          known.rows.push(row)
        } else if (each.do === 'cover') {
          if (known === undefined || known.covered) continue
          await store.cover(each.shard)
          known.covered = true
        } else {
          await store[each.do](each.shard)
          if (each.do === 'unload' || known?.covered) model.delete(each.shard)
        }
        const rows = [...model.values()].flatMap((all) => all.covered ? all.rows : [])
        expect(await store.use(tenant)).toEqual({ ...noUse, threads: rows.length,
          bytes: 10 * rows.length })
        for (const filter of [{}, { metadata: { user: 'a' } }, { status: 'busy' as const }, {
          status: 'idle' as const,
          metadata: { user: 'b' },
        }]) {
          const found = await store.threads.search({ tenant, ...filter, sortBy: 'thread_id',
            sortOrder: 'asc', limit: 100, offset: 0 })
          const expected = rows.filter(({ status, metadataJson }) => {
            const { user: name } = JSON.parse(metadataJson) as { user: string }
            return (filter.status ?? status) === status && (filter.metadata?.user ?? name) === name
          })
          expect(found.rows.map(({ threadId }) => threadId))
            .toEqual(expected.map(({ threadId }) => threadId).toSorted())
          expect(found.total).toBe(expected.length)
          expect(await store.threads.count({ tenant, ...filter })).toBe(expected.length)
        }
      }
      for (const each of [0, 1, 2, 3]) await store.unload(each)
    }), { share: 3 })
  })

  it('replace those that the shard had', async () => {
    const tenant = randomUUID()
    const [gone, kept] = [threadIn(2, { tenant }), threadIn(2, { tenant, seq: 2 })]
    await loadAll(2, [gone, { ...kept, status: 'error' }].map(encodedThread))
    await loadAll(2, [encodedThread({ ...kept, seq: 1 })])
    expect(await store.threads.get(tenant, gone.threadId)).toBeUndefined()
    expect(await store.threads.get(tenant, kept.threadId)).toEqual({ ...kept, seq: 1 })
    await store.unload(2)
  })

  it('are the newest of each thread, whichever comes first', async () => {
    const tenant = randomUUID()
    const rows = [threadIn(2, { tenant }), threadIn(2, { tenant })]
    const older = rows.map((row) => ({ ...row, seq: 1, metadataJson: '{"a":1}' }))
    const newer = rows.map((row) => ({ ...row, seq: 2, metadataJson: '{"b":1}' }))
    await loadAll(2, [older[0]!, newer[0]!, newer[1]!, older[1]!].map(encodedThread))
    for (const row of newer) expect(await store.threads.get(tenant, row.threadId)).toEqual(row)
    expect(await store.threads.count({ tenant, metadata: { a: 1 } })).toBe(0)
    expect(await store.threads.count({ tenant, metadata: { b: 1 } })).toBe(2)
    await store.unload(2)
  })

  it('are unloaded together with those that were put since', async () => {
    const tenant = randomUUID()
    const [loaded, put] = [threadIn(2, { tenant }), threadIn(2, { tenant })]
    await loadAll(2, [encodedThread(loaded)])
    await store.log.append([], [{ table: 'thread', row: put }, { table: 'thread',
      row: { ...loaded, seq: 2, metadataJson: '{"a":1}' } }])
    await store.unload(2)
    expect(await store.threads.count({ tenant })).toBe(0)
    expect(await store.threads.count({ tenant, metadata: { a: 1 } })).toBe(0)
  })

  it('tell which threads are busy or hidden, or owe a webhook', async () => {
    const tenant = randomUUID()
    const busy = threadIn(3, { tenant, status: 'busy' })
    const hidden = threadIn(3, { tenant, hidden: true })
    const other = threadIn(2, { tenant, status: 'busy' })
    const owing = threadIn(3, { tenant, owedWebhooks: [randomUUID()] })
    await loadAll(3, [busy, hidden, owing, threadIn(3, { tenant })].map(encodedThread))
    await loadAll(2, [encodedThread(other)])
    const named = ({ threadId }: ThreadRow) => ({ tenant, threadId })
    expect(new Set(await store.unfinished(3)))
      .toEqual(new Set([named(busy), named(hidden), named(owing)]))
    await store.unload(2)
    expect(await store.unfinished(2)).toEqual([])
    await store.unload(3)
  })

  it('that sleep until a run is due are not busy, and are named while their shard is covered',
    async () => {
      const tenant = randomUUID()
      const run = { runId: 'r', createdSeq: 1, updatedAtMs: 1, status: 'pending', started: false,
        attempt: 0, baseCheckpointId: '', firstSeq: 1, startedAtMs: 0, notBeforeMs: 5,
        inputCharacters: 0, ownerDeaths: 0, suspect: false }
      const row = threadIn(3, { tenant, status: 'busy', unfinished: [run] })
      const due = async () =>
        (await store.due({ atMs: 0, no: 0 }, 10))
          .map(({ threadId, atMs }) => [threadId, atMs])
      await store.load(3, [encodedThread(row)])
      expect(await due()).toEqual([])
      await store.cover(3)
      expect(await due()).toEqual([[row.threadId, 5]])
      expect(await store.unfinished(3)).toEqual([])
      await store.uncover(3)
      expect(await due()).toEqual([])
      await store.unload(3)
      expect(await due()).toEqual([])
    })
})

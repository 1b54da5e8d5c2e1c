/** Runs in Cassandra: few reads at a time, one write for a change, and one order in all tables. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { RunRow } from '../../../../../proto/gen/storage/v1/row.ts'
import { isMeant, readMetadataFilter } from '../../../../../src/search/index.ts'
import type { RunPlace, RunQuery, RunSearchQuery, RunStatus,
  ThreadQuery } from '../../../../../src/search/index.ts'
import { CassandraLog } from '../../../../../src/store/cassandra/log-port.ts'
import { RunTable } from '../../../../../src/store/cassandra/tables/run-table.ts'
import { seenThreads } from '../../../../../src/store/cassandra/tables/seen-threads.ts'
import { aRun, aThread } from '../../../../contract/rows.ts'
import { CountedCassandra } from '../../../../support/counted-cassandra.ts'
import { expectAlways } from '../../../../support/expect-always.ts'

/** How many bodies are read at the same time. */
const atOnce = 4

/** A table of runs, newest first, that counts how its rows and bodies are read. */
function tableOf(rows: readonly RunRow[]) {
  const seen = { read: 0, underWay: 0, most: 0, rowsUnderWay: 0, mostRows: 0 }
  const connection = {
    keyspace: 'heddle',
    pages: async function*(_: unknown, size: number) {
      for (let at = 0; at < rows.length; at += size) {
        yield rows.slice(at, at + size).map(({ runId }) => ({ run_id: runId }))
      }
    },
    read: async ({ values }: { values: string[] }) => {
      seen.mostRows = Math.max(seen.mostRows, ++seen.rowsUnderWay)
      await new Promise(setImmediate)
      seen.rowsUnderWay--
      return rows.filter(({ runId }) => runId === values.at(-1)).map((row) => ({ row }))
    },
  }
  const bodies = {
    read: async (_: unknown, { row }: { row: RunRow }) => {
      seen.read++
      seen.most = Math.max(seen.most, ++seen.underWay)
      await new Promise(setImmediate)
      seen.underWay--
      return RunRow.encode(row).finish()
    },
  }
  const table = new RunTable({ connection: connection as never, bodies: bodies as never,
    env: { nowMs: () => 0 } })
  const list = async (query: Partial<RunQuery> = {}) => (await table.list(
    { tenant: 'local', threadId: 't', limit: 10, offset: 0, ...query },
  ))
  return { seen, list }
}

const runs = (count: number, row: Partial<RunRow> = {}) =>
  Array.from({ length: count }, (_, n) =>
    aRun({ threadId: 't', commandId: `${n}`, ...row, status: n % 3 === 0 ? 'error' : 'success' }))
const numbers = (rows: readonly RunRow[]) => rows.map(({ commandId }) => Number(commandId))

describe('a list', () => {
  it('has the runs in order, from any offset, of one status or of all', async () => {
    const { list } = tableOf(runs(300))
    expect(numbers(await list({ offset: 3, limit: 4 }))).toEqual([3, 4, 5, 6])
    expect(numbers(await list({ offset: 298, limit: 4 }))).toEqual([298, 299])
    expect(numbers(await list({ offset: 300 }))).toEqual([])
    expect(numbers(await list({ status: 'error', offset: 30, limit: 3 }))).toEqual([90, 93, 96])
    expect(numbers(await list({ status: 'error', offset: 99 }))).toEqual([297])
  })

  it('reads no more runs than it has, and few bodies at the same time', async () => {
    const { list, seen } = tableOf(runs(300))
    expect(await list({ limit: 200 })).toHaveLength(200)
    expect(seen).toMatchObject({ read: 200, most: atOnce, mostRows: 64 })
  })

  it('reads the rows of a small page at the same time', async () => {
    const { list, seen } = tableOf(runs(300))
    await list()
    expect(seen).toMatchObject({ read: 10, mostRows: 10 })
  })

  it('is refused if it is too large for one answer, and reads no further', async () => {
    const large = tableOf(runs(60, { kwargsJson: `"${'x'.repeat(1_360_000)}"` }))
    await expect(large.list({ limit: 60, bytes: 13_400_000 })).rejects
      .toMatchObject({ code: 'too_large', httpStatus: 413 })
    expect(large.seen.read).toBeLessThanOrEqual(Math.floor(128 / 13) + 1 + atOnce)
    expect(await large.list({ limit: 20, texts: [] })).toHaveLength(20)
    // Runs that are skipped take no room.
    expect(numbers(await large.list({ limit: 2, offset: 10, status: 'error' }))).toEqual([30, 33])
  })
})

describe('a run', () => {
  it('takes one write at each change, its places in two orders included', async () => {
    const cassandra = new CountedCassandra()
    const { runs: table } = await cassandra.member()
    const [first, row] = [aRun({ threadId: 't' }), aRun({ threadId: 't' })]
    cassandra.calls()
    await table.put({ row: first, rank: 1n })
    await table.put({ row, rank: 2n })
    expect(cassandra.calls()).toEqual({ 'write run': 2 })
    await table.put({ row: { ...row, status: 'success' }, rank: 3n })
    expect(cassandra.calls()).toEqual({ 'write run': 1 })
    expect(await table.get('local', 't', row.runId)).toMatchObject({ status: 'success' })
    expect(cassandra.calls()).toEqual({ 'read run': 1 })
    await table.removeAll('local', 't', 4n)
    expect(cassandra.calls()).toEqual({ 'read run': 1, 'write run': 1 })
    expect(await table.get('local', 't', row.runId)).toBeUndefined()
  })

  it('has its place written again after another member may have removed it', async () => {
    const cassandra = new CountedCassandra()
    const [{ runs: table }, { runs: other }] = [await cassandra.member(), await cassandra.member()]
    const log = new CassandraLog({ runs: table, log: { forget: () => {} } } as never)
    const row = aRun({ threadId: 't' })
    await table.put({ row, rank: 1n })
    log.forget()
    await other.removeAll('local', 't', 2n)
    await table.put({ row, rank: 3n })
    expect(await table.list({ tenant: 'local', threadId: 't', limit: 9, offset: 0 })).toEqual([row])
  })

  it('that begins a thread takes the place of those that an earlier one left', async () => {
    for (const former of [undefined, { isFinished: false }, { isFinished: true }]) {
      const cassandra = new CountedCassandra()
      const [{ runs: table }, { runs: other }] = [await cassandra.member({ former }),
        await cassandra.member({ former })]
      const [gone, row] = [aRun({ threadId: 't', createdSeq: 1 }),
        aRun({ threadId: 't', createdSeq: 1 })]
      await other.put({ row: gone, rank: 1n })
      cassandra.calls()
      await table.put({ row, rank: 3n, over: 2n })
      if (!former) expect(cassandra.calls()).toEqual({ 'write run': 1 })
      const page = { tenant: 'local', threadId: 't', limit: 9, offset: 0 }
      expect(await table.list(page)).toEqual([row])
      expect(await table.get('local', 't', gone.runId)).toBeUndefined()
      // A write of the owner before may arrive late.
      if (!former) await other.put({ row: { ...gone, status: 'error' }, rank: 1n })
      expect(await table.list(page)).toEqual([row])
    }
  })

  it('of a long thread is apart from the others, so that their partition stays small', async () => {
    const cassandra = new CountedCassandra()
    const { runs: table } = await cassandra.member()
    const row = aRun({ threadId: 't', createdSeq: 5_000 })
    cassandra.calls()
    await table.put({ row, rank: 1n })
    expect(cassandra.calls()).toMatchObject({ 'write run': 2 })
    await table.put({ row: { ...row, status: 'success' }, rank: 2n })
    expect(cassandra.calls()).toEqual({ 'write run': 1 })
    expect(cassandra.runPartitions().toSorted()).toEqual(['', row.runId])
    await table.list({ tenant: 'local', threadId: 't', limit: 10, offset: 0 })
    expect(cassandra.calls()).toEqual({ 'read run': 2 })
    await table.remove({ tenant: 'local', threadId: 't', runId: row.runId }, 3n)
    expect(cassandra.runPartitions()).toEqual([])
  })
})

const statuses = ['pending', 'running', 'success', 'error'] as const
const [tenants, threads] = [['local', 'other'], ['t1', 't2']]
/** Ids that the server makes, and those that a client may choose. */
const ids = ['0190a000-0000-7000-8000-000000000001', '0190a000-0000-7000-8000-000000000002',
  'f0000000-0000-4000-8000-000000000003', '00000000-0000-4000-8000-000000000004',
  '0190b000-0000-7000-8000-000000000005']

/** Any change of a run. A run is on one thread. */
const change = fc.record({
  what: fc.constantFrom('put', 'put', 'put', 'put', 'remove', 'remove all', 'forget', 'move'),
  tenant: fc.constantFrom(...tenants),
  id: fc.constantFrom(...ids),
  status: fc.constantFrom(...statuses),
  large: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
})
type Change = typeof change extends fc.Arbitrary<infer Each> ? Each : never

const threadOf = (id: string) => threads[ids.indexOf(id) % 2]!

/** Each run has one creation, whatever becomes of it. Some are of one millisecond. */
function rowOf({ tenant, id, status, large }: Change, n: number): RunRow {
  const at = ids.indexOf(id)
  return aRun({ tenant, threadId: threadOf(id), runId: id, status, lastSeq: n,
    createdAtMs: [5, 5, 5, 90_000_000, 7_200_005][at]!, createdSeq: at === 1 ? 9_000 : at,
    kwargsJson: large ? `"${'x'.repeat(300_000)}"` : '{}' })
}

/** A table of one of the ways to store runs, over a Cassandra of its own. */
async function aKeyspace(former: readonly (undefined | { readonly isFinished: boolean })[]) {
  const cassandra = new CountedCassandra()
  const members = await Promise.all(former.map((each) => cassandra.member({ former: each })))
  let at = 0
  let table = members[0]!.runs
  return {
    get table() {
      return table
    },
    /** Another member goes on. */
    move: () => {
      table.forget()
      table = members[++at % members.length]!.runs
    },
  }
}

async function apply(keyspace: Awaited<ReturnType<typeof aKeyspace>>, changes: readonly Change[]) {
  for (const [n, each] of changes.entries()) {
    const [rank, { tenant, id: runId }] = [BigInt(n + 1), each]
    const threadId = threadOf(runId)
    switch (each.what) {
      case 'put':
        await keyspace.table.put({ row: rowOf(each, n), rank })
        break
      case 'remove':
        await keyspace.table.remove({ tenant, threadId, runId }, rank)
        break
      case 'remove all':
        await keyspace.table.removeAll(tenant, threadId, rank)
        break
      case 'forget':
        keyspace.table.forget()
        break
      case 'move':
        keyspace.move()
    }
  }
}

/** The runs that the changes leave, the newest first. */
function left(changes: readonly Change[]): RunRow[] {
  const rows = new Map<string, RunRow>()
  for (const [n, each] of changes.entries()) {
    const { tenant, id } = each
    if (each.what === 'put') rows.set(`${tenant} ${id}`, rowOf(each, n))
    if (each.what === 'remove') rows.delete(`${tenant} ${id}`)
    if (each.what !== 'remove all') continue
    for (const one of ids.filter((other) => threadOf(other) === threadOf(id))) {
      rows.delete(`${tenant} ${one}`)
    }
  }
  return [...rows.values()].toSorted((a, b) =>
    b.createdAtMs - a.createdAtMs
    || (a.runId === b.runId ? 0 : a.runId < b.runId ? 1 : -1)
  )
}

const named = ({ threadId, runId, lastSeq }: RunRow) => `${threadId} ${runId} ${lastSeq}`

async function expectSame(table: RunTable, all: readonly RunRow[]) {
  const page = { limit: 2, offset: 1 }
  for (const tenant of tenants) {
    for (const threadId of threads) {
      const own = all.filter((row) => row.tenant === tenant && row.threadId === threadId)
      for (const status of [undefined, 'success'] as const) {
        const listed = await table.list({ tenant, threadId, ...page, ...status && { status } })
        const wanted = own.filter((row) => status === undefined || row.status === status)
        expect(listed.map(named)).toEqual(wanted.slice(1, 3).map(named))
      }
      const runId = own[0]?.runId ?? ids[0]!
      expect(await table.get(tenant, threadId, runId)).toEqual(own[0])
    }
    for (const filter of [{}, { threadId: threads[0] }, { status: 'success' as RunStatus }, {
      createdAfterMs: 5,
      createdBeforeMs: 90_000_000,
    }, { threadId: threads[1], createdAfterMs: -9, createdBeforeMs: 6 }]) {
      expect((await searched(table, { tenant, ...filter })).map(named))
        .toEqual(expectedIn(all, { tenant, ...filter }).map(named))
    }
    // One thread is seen, as those of stateless runs are found.
    const [threadId] = threads
    expect((await searched(table, { tenant, allowed: readMetadataFilter({}) })).map(named))
      .toEqual(expectedIn(all, { tenant, threadId }).map(named))
  }
}

/** The thread that a caller may see, as owners tell it. */
const ofOwners = {
  search: async ({ tenant, ids: asked, hidden }: ThreadQuery) => ({
    rows: hidden === true && asked?.includes(threads[0]!) === true
      ? [aThread({ tenant, threadId: threads[0]! })]
      : [],
    total: 0,
  }),
}

type Filter = Omit<RunSearchQuery, 'limit' | 'after'>

function expectedIn(all: readonly RunRow[], filter: Filter): RunRow[] {
  const { createdAfterMs: after = -1, createdBeforeMs: before = Infinity } = filter
  return all.filter((row) =>
    row.tenant === filter.tenant && isMeant(filter, row)
    && row.createdAtMs > after && row.createdAtMs < before
  )
}

/** Pages of two runs, as a client reads them. */
async function searched(table: RunTable, filter: Filter): Promise<RunRow[]> {
  const rows: RunRow[] = []
  for (let after: RunPlace | undefined;;) {
    const page = await table.search({ ...filter, limit: 2, after }, undefined,
      seenThreads(ofOwners, filter))
    rows.push(...page.rows)
    after = page.next
    if (after === undefined) return rows
  }
}

describe('runs are got, listed and searched in one order', () => {
  it.each([
    ['in a new keyspace', [undefined, undefined]],
    ['in one of an earlier version', [{ isFinished: false }, { isFinished: false }]],
    ['in one whose upgrade is finished', [{ isFinished: true }, { isFinished: true }]],
    ['while some members do not know yet that it is', [{ isFinished: false }, {
      isFinished: true,
    }, { isFinished: false }]],
  ])('%s', async (_, former) => {
    await expectAlways(
      fc.asyncProperty(fc.array(change, { maxLength: 30 }), async (changes) => {
        const keyspace = await aKeyspace(former)
        await apply(keyspace, changes)
        await expectSame(keyspace.table, left(changes))
      }),
      { share: 30 },
    )
  })

  it('and the row that was written last is meant, whichever table has it', async () => {
    const cassandra = new CountedCassandra()
    const [unaware, aware] = [(await cassandra.member({ former: { isFinished: false } })).runs,
      (await cassandra.member({ former: { isFinished: true } })).runs]
    const row = aRun({ threadId: 't' })
    for (const [n, table] of [unaware, aware, unaware, aware].entries()) {
      const written = { ...row, attempt: n }
      await table.put({ row: written, rank: BigInt(n + 1) })
      for (const each of [unaware, aware]) {
        expect(await each.get('local', 't', row.runId)).toEqual(written)
        expect((await each.search({ tenant: 'local', limit: 9 })).rows).toEqual([written])
      }
    }
  })

  it('and those of before an upgrade are changed and removed after it', async () => {
    const cassandra = new CountedCassandra()
    const old = await cassandra.member({ former: { isFinished: false } })
    const [one, two, three] = [1, 2, 3].map((createdAtMs) => aRun({ threadId: 't', createdAtMs }))
    for (const row of [one!, two!, three!]) await old.runs.put({ row, rank: 1n })
    expect(cassandra.runPartitions()).toEqual([])
    const { runs: table } = await cassandra.member({ former: { isFinished: true } })
    cassandra.calls()
    await table.put({ row: { ...two!, status: 'success' }, rank: 2n })
    expect(cassandra.calls()).toEqual({ 'write run': 1 })
    const key = { tenant: 'local', threadId: 't' }
    await table.remove({ ...key, runId: three!.runId }, 3n)
    const rows = [{ ...two!, status: 'success' }, one!]
    expect(await table.list({ ...key, limit: 9, offset: 0 })).toEqual(rows)
    expect((await table.search({ tenant: 'local', limit: 9 })).rows).toEqual(rows)
    await table.removeAll('local', 't', 4n)
    expect(await table.list({ ...key, limit: 9, offset: 0 })).toEqual([])
    expect((await table.search({ tenant: 'local', limit: 9 })).rows).toEqual([])
  })
})

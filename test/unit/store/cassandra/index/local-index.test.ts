/** The local index while shards are loaded and unloaded: what it finds in between. */

import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { actorKeyText, shardOf, systemEnv } from '../../../../../cluster/index.ts'
import { ThreadRow } from '../../../../../proto/gen/storage/v1/row.ts'
import type { UnfinishedThread } from '../../../../../src/search/index.ts'
import { LocalIndex } from '../../../../../src/store/cassandra/index/local-index.ts'
import type { OwnedRowTable } from '../../../../../src/store/cassandra/index/owned-row-table.ts'
import { aBranch, aThread } from '../../../../contract/rows.ts'
import { repeats } from '../../../../support/repeats.ts'

const shards = 32

/** Rows of threads as Cassandra has them; `hold` delays the result of a read of a shard. */
class FakeTable {
  readonly rows = new Map<string, ThreadRow>()
  hold = Promise.resolve()
  failing = false
  /** Ids of threads whose rows lag behind their logs. */
  unsettled: readonly string[] = []
  reads = 0
  /** Called at the beginning of each read. */
  onRead = () => {}

  shardOf(tenant: string, id: string): number {
    return shardOf(actorKeyText({ kind: 'thread', tenant, id }), shards)
  }

  async bodyOf(_tenant: string, id: string): Promise<Uint8Array | undefined> {
    const row = this.rows.get(id)
    return row && ThreadRow.encode(row).finish()
  }

  async *bodiesOf(shard: number,
    marked: (thread: UnfinishedThread) => void): AsyncGenerator<Uint8Array[]> {
    const rows = [...this.rows.values()]
      .filter(({ tenant, threadId }) => this.shardOf(tenant, threadId) === shard)
    this.reads++
    this.onRead()
    await this.hold
    if (this.failing) throw new Error('Cassandra is out of reach')
    for (const { tenant, threadId } of rows) {
      if (this.unsettled.includes(threadId)) marked({ tenant, threadId })
    }
    yield rows.map((row) => ThreadRow.encode(row).finish())
  }
}

const noTable = { shardOf: () => 0, bodyOf: async () => undefined, bodiesOf: async function*() {} }

let directory: string
let table: FakeTable
let index: LocalIndex
/** The writer thread of the file. */
let writer: Worker
const losses: string[] = []
/** Ends the newest of the long waits. */
let passTime: () => void
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'heddle-index-'))
  table = new FakeTable()
  const tables = { thread: table, assistant: noTable, cron: noTable,
    item: noTable } as unknown as Record<
      'thread' | 'assistant' | 'cron' | 'item',
      OwnedRowTable
    >
  const env = systemEnv({ level: 'silent' })
  const started = once(process, 'worker') as Promise<[Worker]>
  index = await LocalIndex.open({
    directory,
    shards,
    tables,
    env: { ...env, after: (ms, fn) => {
      if (ms >= 30_000) passTime = fn
      return env.after(ms, fn)
    } },
    onLost: (reason) => losses.push(reason),
  })
  ;[writer] = await started
})
afterEach(async () => {
  await index.close()
  await rm(directory, { recursive: true })
  expect(losses).toEqual([])
})

/** Stores a thread of the shard in Cassandra. */
function stored(shard: number, row: Partial<ThreadRow> = {}): ThreadRow {
  for (;;) {
    const thread = aThread(row)
    if (table.shardOf('local', thread.threadId) !== shard) continue
    table.rows.set(thread.threadId, thread)
    return thread
  }
}

/** Puts a row as the log does: in Cassandra first. */
async function put(row: ThreadRow): Promise<ThreadRow> {
  table.rows.set(row.threadId, row)
  await index.put([{ table: 'thread', row }])
  return row
}

async function remove({ threadId, branch }: ThreadRow): Promise<void> {
  table.rows.delete(threadId)
  await index.remove({ table: 'thread', tenant: 'local', id: threadId, branch: branch!, epoch: 1 })
}

async function found(): Promise<{ ids: Set<string>; covered: number[] }> {
  const { rows, covered } = await index.answer({ kind: 'thread_search', query: {
    tenant: 'local',
    sortBy: 'created_at',
    sortOrder: 'desc',
    limit: 100,
    offset: 0,
  } })
  return { ids: new Set(rows.map((row) => (row as ThreadRow).threadId)), covered: [...covered] }
}

function rowsInFile(): number {
  const file = new DatabaseSync(join(directory, 'heddle.db'), { readOnly: true })
  const { rows } = file.prepare('SELECT count(*) AS rows FROM thread').get() as { rows: number }
  file.close()
  return rows
}

const get = (row: ThreadRow) => index.threads.get('local', row.threadId)

/** Begins to load a shard: its rows are read, and changes from now on come after that. */
async function loadingShard(shard: number) {
  const { promise, resolve } = Promise.withResolvers<void>()
  table.hold = promise
  const reads = table.reads + 1
  const loaded = index.load(shard)
  while (table.reads < reads) await new Promise(setImmediate)
  return { loaded, resume: resolve }
}

describe('the local index', () => {
  it('finds the threads of a loaded shard, and returns those that were left busy', async () => {
    const [idle, busy] = [stored(1), stored(1, { status: 'busy' })]
    stored(0, { status: 'busy' })
    expect(await index.load(1)).toEqual([{ tenant: 'local', threadId: busy.threadId }])
    expect(await found()).toEqual({ ids: new Set([idle.threadId, busy.threadId]), covered: [1] })
  })

  it('finds nothing of a shard before its unsettled threads are opened', async () => {
    const [late] = [stored(1, { metadataJson: '{"a":1}' }), stored(1)]
    table.unsettled = [late.threadId]
    const opened = Promise.withResolvers<readonly UnfinishedThread[]>()
    const ready = Promise.withResolvers<void>()
    const loaded = index.load(1, (threads) => {
      opened.resolve(threads)
      return ready.promise
    })
    expect(await opened.promise).toEqual([{ tenant: 'local', threadId: late.threadId }])
    expect((await found()).covered).toEqual([])
    // Its owner has read its log.
    await put({ ...late, seq: 2, metadataJson: '{"a":2}' })
    ready.resolve()
    await loaded
    expect((await found()).covered).toEqual([1])
    expect(await get(late)).toMatchObject({ metadataJson: '{"a":2}' })
  })

  it('gets a row even while its shard is loaded, or if it is of another member', async () => {
    const [here, there] = [stored(0), stored(1)]
    const { loaded, resume } = await loadingShard(0)
    expect(await get(here)).toEqual(here)
    expect(await get(there)).toEqual(there)
    expect(await get(aThread())).toBeUndefined()
    resume()
    await loaded
    expect(await get(here)).toEqual(here)
  })

  it('finds nothing of a shard before it is loaded completely', async () => {
    const old = stored(0)
    const { loaded, resume } = await loadingShard(0)
    const made = await put(stored(0))
    expect(await found()).toEqual({ ids: new Set(), covered: [] })
    resume()
    await loaded
    expect(await found())
      .toEqual({ ids: new Set([old.threadId, made.threadId]), covered: [0] })
  })

  it('keeps rows that were put while their shard was loaded', async () => {
    const old = stored(0)
    const { loaded, resume } = await loadingShard(0)
    const changed = await put({ ...old, status: 'error' })
    expect(await get(old)).toEqual(changed)
    resume()
    await loaded
    expect(await get(old)).toEqual(changed)
  })

  it('keeps rows that are put at the moment when the load ends', async () => {
    const old = stored(0)
    for (let turns = 0; turns < 6; turns++) {
      const { loaded, resume } = await loadingShard(0)
      resume()
      for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate)
      const [changed] = await Promise.all([put({ ...old, seq: turns + 2 }), loaded])
      expect(await get(old)).toEqual(changed)
      expect((await found()).ids).toEqual(new Set([old.threadId]))
      index.unload(0)
    }
  })

  it('never covers a shard without rows that were put while it was written', async () => {
    for (let round = 0; round < repeats({ day: 2, night: 5 }); round++) {
      for (let row = 0; row < 200; row++) stored(0)
      const { loaded, resume } = await loadingShard(0)
      resume()
      for (let covered: readonly number[] = []; covered.length === 0;) {
        const row = await put(stored(0, { createdAtMs: Date.now() + 1e9 }))
        const answer = await found()
        covered = answer.covered
        if (covered.length > 0) expect(answer.ids).toContain(row.threadId)
      }
      await loaded
      index.unload(0)
    }
  })

  it('forgets threads that were removed during a load, but not those created again', async () => {
    const [gone, again] = [stored(0), stored(0)]
    const { loaded, resume } = await loadingShard(0)
    await remove(gone)
    expect(await get(gone)).toBeUndefined()
    const made = await put({ ...again, epoch: 2, branch: aBranch() })
    await index.remove({ table: 'thread', tenant: 'local', id: again.threadId,
      branch: again.branch!, epoch: 1 })
    resume()
    await loaded
    expect(await get(gone)).toBeUndefined()
    expect(await get(again)).toEqual(made)
    expect((await found()).ids).toEqual(new Set([again.threadId]))
  })

  it('forgets a thread that was removed, created and removed again during a load', async () => {
    const first = stored(0)
    const { loaded, resume } = await loadingShard(0)
    await remove(first)
    const second = await put({ ...first, epoch: 2, branch: aBranch() })
    await remove(second)
    expect(await get(first)).toBeUndefined()
    resume()
    await loaded
    expect(await get(first)).toBeUndefined()
    expect(await found()).toEqual({ ids: new Set(), covered: [0] })
  })

  it('finds nothing of a shard from the moment when it is unloaded', async () => {
    const [one, other] = [stored(0), stored(1)]
    await Promise.all([index.load(0), index.load(1)])
    index.unload(0)
    expect(await found()).toEqual({ ids: new Set([other.threadId]), covered: [1] })
    expect(await get(one)).toEqual(one)
    await put({ ...one, seq: 2 })
    expect((await found()).ids).toEqual(new Set([other.threadId]))
  })

  it('deletes the rows of an unloaded shard from the file after some time', async () => {
    stored(0)
    await index.load(0)
    index.unload(0)
    expect(rowsInFile()).toBe(1)
    passTime()
    while (rowsInFile() > 0) await new Promise(setImmediate)
  })

  it('loads and unloads many shards at once', async () => {
    const all = Array.from({ length: shards }, (_, shard) => shard)
    const rows = all.map((shard) => stored(shard))
    await Promise.all(all.map((shard) => index.load(shard)))
    expect((await found()).ids.size).toBe(shards)
    for (const shard of all) index.unload(shard)
    expect(await found()).toEqual({ ids: new Set(), covered: [] })
    await Promise.all(all.map((shard) => index.load(shard)))
    for (const shard of all) index.unload(shard)
    const back = shards - 1
    await index.load(back)
    expect(await found()).toEqual({ ids: new Set([rows[back]!.threadId]), covered: [back] })
  })

  it('reads ahead only as far as there is room for rows that are not in the file yet', async () => {
    const metadataJson = JSON.stringify({ text: 'x'.repeat(3_000_000) })
    const all = Array.from({ length: 22 }, (_, shard) => shard)
    for (const shard of all) stored(shard, { metadataJson })
    let farthest = 0
    table.onRead = () => {
      farthest = Math.max(farthest, table.reads - rowsInFile())
    }
    await Promise.all(all.map((shard) => index.load(shard)))
    expect(farthest).toBeLessThan(18)
    expect(table.reads).toBe(all.length)
    expect(rowsInFile()).toBe(all.length)
  })

  it('has only the current rows of a shard that is loaded again', async () => {
    const [deleted, changed] = [stored(0), stored(0)]
    await index.load(0)
    index.unload(0)
    table.rows.delete(deleted.threadId)
    const newer = { ...changed, epoch: 2, status: 'error' }
    table.rows.set(changed.threadId, newer)
    await index.load(0)
    expect((await found()).ids).toEqual(new Set([changed.threadId]))
    expect(await get(changed)).toEqual(newer)
    expect(await get(deleted)).toBeUndefined()
  })

  it('does not cover a shard that was unloaded during the load', async () => {
    stored(0, { status: 'busy' })
    const { loaded, resume } = await loadingShard(0)
    index.unload(0)
    const again = await loadingShard(0)
    resume()
    expect(await loaded).toEqual([])
    expect(await found()).toEqual({ ids: new Set(), covered: [] })
    again.resume()
    expect((await again.loaded).length).toBe(1)
    expect((await found()).covered).toEqual([0])
  })

  it('can load a shard again after a failure', async () => {
    const row = stored(0)
    table.failing = true
    const { loaded, resume } = await loadingShard(0)
    await put({ ...row, seq: 2 })
    resume()
    await expect(loaded).rejects.toThrow('out of reach')
    expect(await found()).toEqual({ ids: new Set(), covered: [] })
    table.failing = false
    await index.load(0)
    expect(await get(row)).toEqual({ ...row, seq: 2 })
  })
})

it('The index reports that it is lost when its writer thread dies, even if idle.', async () => {
  await writer.terminate()
  expect(losses.splice(0)).toEqual(['The thread that writes the data directory has died.'])
})

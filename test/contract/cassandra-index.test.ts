/** The index of what a member owns, shard by shard: two members take turns over one keyspace. */

import { randomUUID } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { actorKeyText, shardOf, systemEnv } from '../../cluster/index.ts'
import type { AssistantRow, ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import type { RowUpdate } from '../../src/checkpoint/index.ts'
import { openCassandraStore } from '../../src/store/cassandra/index.ts'
import type { CassandraStore, ServedStore } from '../../src/store/cassandra/index.ts'
import { cassandraForTests } from '../support/cassandra.ts'
import { loneIndex } from '../support/lone-index.ts'
import { openCheck } from '../support/open-check.ts'
import { sharedKeyspace } from '../support/shared-keyspace.ts'
import { anAssistant, aThread } from './rows.ts'

const cassandra = await cassandraForTests()

type House = CassandraStore & { readonly ports: ServedStore }

describe.skipIf(!cassandra)('the index of a member over Cassandra', () => {
  const place = sharedKeyspace(cassandra!)
  const directory = mkdtempSync(join(tmpdir(), 'heddle-index-'))
  let one: House
  let other: House

  const open = async (name: string): Promise<House> => {
    const store = await openCassandraStore({
      env: systemEnv({ level: 'silent' }),
      contactPoints: place.contactPoints,
      commit: 'validate',
      localDataCenter: place.dataCenter,
      keyspace: place.keyspace,
      directory: join(directory, name),
      onIndexLost: (reason) => {
        throw new Error(reason)
      },
    })
    const { threads } = loneIndex(store, systemEnv({ level: 'silent' }))
    return { ...store, ports: store.serve({ check: openCheck, threads }) }
  }
  beforeAll(async () => {
    one = await open('one')
    other = await open('other')
  })
  afterAll(async () => {
    await Promise.all([one?.close(), other?.close()])
    await rm(directory, { recursive: true })
  })

  const shardOfThread = ({ threadId: id, tenant }: ThreadRow) =>
    shardOf(actorKeyText({ kind: 'thread', tenant, id }), one.shards)
  const shardOfAssistant = ({ assistantId: id, tenant }: AssistantRow) =>
    shardOf(actorKeyText({ kind: 'assistant', tenant, id }), one.shards)
  const threadUpdate = (row: ThreadRow): RowUpdate => ({ table: 'thread', row })

  const threadIds = async ({ index }: House, tenant: string) => {
    const { rows } = await index.answer({ kind: 'thread_search', query: {
      tenant,
      sortBy: 'created_at',
      sortOrder: 'asc',
      limit: 100,
      offset: 0,
    } })
    return rows.map((row) => (row as ThreadRow).threadId)
  }
  const ids = (rows: readonly ThreadRow[]) => rows.map(({ threadId }) => threadId)

  it('finds only rows of loaded shards, and gets any row by id', async () => {
    const tenant = randomUUID()
    const rows = Array.from({ length: 40 },
      (_, createdAtMs) =>
        aThread({ tenant, createdAtMs, status: createdAtMs % 3 === 0 ? 'busy' : 'idle' }))
    const assistant = anAssistant({ tenant })
    await one.ports.log.append([], [...rows.map(threadUpdate), { table: 'assistant',
      row: assistant }])
    expect(await threadIds(one, tenant)).toEqual([])

    const shard = shardOfThread(rows[0]!)
    const inShard = rows.filter((row) => shardOfThread(row) === shard)
    const unfinished = await other.index.load(shard)
    const own = unfinished.filter((each) => each.tenant === tenant)
    expect(own.map(({ threadId }) => threadId).toSorted())
      .toEqual(ids(inShard.filter(({ status }) => status === 'busy')).toSorted())
    expect(await threadIds(other, tenant)).toEqual(ids(inShard))
    for (const row of rows) expect(await other.ports.threads.get(tenant, row.threadId)).toEqual(row)
    expect(await other.ports.assistants.get(tenant, assistant.assistantId)).toEqual(assistant)

    const ofAssistant = shardOfAssistant(assistant)
    if (ofAssistant !== shard) await other.index.load(ofAssistant)
    const { total, covered } = await other.index.answer({ kind: 'assistant_count',
      query: { tenant } })
    expect({ total, covered: new Set(covered) })
      .toEqual({ total: 1, covered: new Set([shard, ofAssistant]) })
    for (const each of covered) other.index.unload(each)
    expect(await threadIds(other, tenant)).toEqual([])
  })

  it('shows what another owner has changed in a shard meanwhile', async () => {
    const tenant = randomUUID()
    const gone = aThread({ tenant })
    const shard = shardOfThread(gone)
    await one.index.load(shard)
    await one.ports.log.append([], [threadUpdate(gone)])
    expect(await threadIds(one, tenant)).toEqual([gone.threadId])
    one.index.unload(shard)

    await other.index.load(shard)
    await other.ports.log.purge({ table: 'thread', tenant, id: gone.threadId, branch: gone.branch!,
      epoch: 2 })
    expect(await threadIds(other, tenant)).toEqual([])
    other.index.unload(shard)

    await one.index.load(shard)
    expect(await threadIds(one, tenant)).toEqual([])
    expect(await one.ports.threads.get(tenant, gone.threadId)).toBeUndefined()
    one.index.unload(shard)
  })

  it('includes what is written and deleted while its shards are being loaded', async () => {
    const asked = randomUUID()
    const rows = Array.from({ length: 60 }, () => aThread({ tenant: asked }))
    await one.ports.log.append([], rows.map(threadUpdate))
    const shards = [...new Set(rows.map(shardOfThread))]
    const loaded = Promise.all(shards.map((shard) => other.index.load(shard)))
    const changes = rows.map(async (row, number) => {
      if (number % 3 === 0) return
      const { tenant, threadId: id, branch } = row
      if (number % 3 === 1) {
        await other.ports.log.append([], [threadUpdate({ ...row, epoch: 2, status: 'error' })])
      } else {
        await other.ports.log.purge({ table: 'thread', tenant, id, branch: branch!, epoch: 2 })
      }
    })
    await Promise.all([loaded, ...changes])
    const count = async (status?: 'error') =>
      (await other.index.answer({ kind: 'thread_count',
        query: { tenant: asked, ...status && { status } } })).total
    expect([await count(), await count('error')]).toEqual([40, 20])
    for (const shard of shards) other.index.unload(shard)
    expect(await count()).toBe(0)
  })
})

/** Spans in Cassandra get another time to live when the life of their project changes. */

import { randomUUID } from 'node:crypto'

import { v7 } from 'uuid'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

import { systemEnv } from '../../cluster/index.ts'
import { noFields, termOf } from '../../src/platform/index.ts'
import type { SpanPlace, SpansOfRequest, SpanStore, SpanWrite } from '../../src/platform/index.ts'
import { Connection } from '../../src/store/cassandra/driver/connection.ts'
import { blockKey } from '../../src/store/cassandra/platform/block-table.ts'
import { fileKey, fileOwners } from '../../src/store/cassandra/platform/file-table.ts'
import { rewriteBucket } from '../../src/store/cassandra/platform/lives/row-lives.ts'
import { bucketOf, hourOf } from '../../src/store/cassandra/platform/rows/partition-key.ts'
import { cassandraForTests } from '../support/cassandra.ts'
import { sharedKeyspace } from '../support/shared-keyspace.ts'
import { cassandraSpanPlace } from './cassandra-span-place.ts'
import type { CassandraSpanPlace } from './cassandra-span-place.ts'

const cassandra = await cassandraForTests()
const dayS = 86_400
const [short, long] = [14 * dayS, 400 * dayS]
const largeBytes = 600_000

describe.skipIf(!cassandra)('the life of spans in Cassandra', () => {
  let place: CassandraSpanPlace
  let store: SpanStore
  let connection: Connection
  let tenant: string
  let project: string

  beforeAll(async () => {
    place = await cassandraSpanPlace(cassandra!)
    store = await place.open('write')
    const options = sharedKeyspace(cassandra!)
    connection = await Connection.open({ ...options, localDataCenter: options.dataCenter,
      env: systemEnv({ level: 'silent' }) })
  })
  afterAll(async () => {
    await connection?.close()
    await place?.remove()
  })
  beforeEach(() => {
    ;[tenant, project] = [randomUUID(), randomUUID()]
  })

  function aSpan(more: Partial<SpanPlace> = {}): SpanWrite {
    const id = v7()
    const startUs = Date.now() * 1_000
    return { place: { tenant, project, startUs, id, trace: id, traceStartUs: startUs, ...more },
      kind: 'post', arrivedUs: startUs, fields: { ...noFields, name: 'n' },
      terms: [termOf.error, termOf.tag('t')], indexed: 1, block: 5n }
  }

  /** Two spans of a trace with a large block and a large file. */
  function aTrace(lifeS: number): SpansOfRequest & { readonly root: SpanPlace } {
    const root = aSpan()
    const child = aSpan({ ...root.place, id: v7() })
    const { id: owner, trace, traceStartUs } = root.place
    return { root: root.place, tenant, spans: [root, child],
      blocks: [{ id: 5n, trace, traceStartUs, data: Buffer.alloc(largeBytes, 'b') }],
      files: [{ project, owner, ownerTrace: trace, name: 'f', type: 't',
        data: Buffer.alloc(largeBytes, 'f') }], timeToLiveS: new Map([[project, lifeS]]) }
  }

  /** Days that each cell of the tenant lives, by table. */
  async function daysLeft(): Promise<Readonly<Record<string, readonly number[]>>> {
    const tables = { span_head: ['ops', 'terms'], span_location: ['trace_id'],
      trace_block: ['members', 'data'], span_file: ['version', 'data'], span_bucket: ['present'],
      log_chunk: ['data'] }
    return Object.fromEntries(
      await Promise.all(Object.entries(tables).map(async ([table, columns]) => {
        const key = table === 'log_chunk' ? 'row_key' : 'tenant'
        const days = await Promise.all(columns.map(async (column) => {
          const pages = connection.pages({ cql: `SELECT ${key}, TTL(${column}) AS ttl FROM ` +
            `${place.keyspace}.${table}`, values: [] }, 1_000)
          const found: number[] = []
          for await (const rows of pages) {
            for (const row of rows) {
              if (!String(row[key]).includes(tenant)) continue
              const lives = [row.ttl ?? []].flat() as readonly number[]
              found.push(...lives.map((ttlS) => Math.round(ttlS / dayS)))
            }
          }
          return found
        }))
        return [table, [...new Set(days.flat())]] as const
      })),
    )
  }
  const all = (days: number) => ({ span_head: [days], span_location: [days], trace_block: [days],
    span_file: [days], span_bucket: [days], log_chunk: [days] })

  async function readAll(root: SpanPlace) {
    const [blocks, files, places] = await Promise.all([store.blocks(root, [5n]),
      store.files(root, 'f'), store.locate(tenant, [root.id])])
    const heads: string[] = []
    for await (const slice of store.trace(root)) heads.push(...slice.map(({ id }) => id))
    return { heads: heads.length, places, data: blocks.get(5n)?.byteLength,
      file: files[0]?.data.byteLength }
  }

  it('becomes longer in all rows of a project, and shorter again', async () => {
    const { root, ...request } = aTrace(short)
    await store.write(request)
    const before = await readAll(root)
    expect(before).toEqual({ heads: 2, places: [root], data: largeBytes, file: largeBytes })
    expect(await daysLeft()).toEqual(all(14))
    await store.changeLife(tenant, project, long)
    await expect.poll(daysLeft, { timeout: 20_000 }).toEqual(all(400))
    expect(await readAll(root)).toEqual(before)
    await store.changeLife(tenant, project, short)
    // An hour may stay known after its spans.
    await expect.poll(daysLeft, { timeout: 20_000 }).toEqual({ ...all(14), span_bucket: [400] })
    expect(await readAll(root)).toEqual(before)
  })

  it('ends at once for spans that are older than a shorter life', async () => {
    const { root, ...request } = aTrace(long)
    await store.write(request)
    await store.changeLife(tenant, project, 1)
    await expect.poll(() => readAll(root), { timeout: 20_000 })
      .toEqual({ heads: 0, places: [], data: undefined, file: undefined })
  })

  it('of a block that another project has, too, does not become shorter', async () => {
    const { root, ...request } = aTrace(long)
    const other = { ...root, project: randomUUID() }
    await store.write(request)
    await store.write({ ...request, files: [], spans: [{ ...aSpan(other) }],
      timeToLiveS: new Map([[other.project, long]]) })
    await store.changeLife(tenant, project, 1)
    await expect.poll(async () => (await store.heads([root])).length, { timeout: 20_000 }).toBe(0)
    expect((await readAll(other)).data).toBe(largeBytes)
    expect((await store.heads([other])).length).toBe(1)
  })

  it('does not revive a trace that is removed while its rows are written again', async () => {
    const { root, ...request } = aTrace(short)
    await store.write(request)
    const removing = Object.create(connection, { pages: {
      value: async function*(...query: Parameters<Connection['pages']>) {
        for await (const page of connection.pages(...query)) {
          if (query[0].cql.includes('span_head')) {
            await store.remove(tenant, { kind: 'traces', traces: [root] })
          }
          yield page
        }
      },
    }, ...Object.fromEntries(
      (['read', 'write', 'repeatableBatch'] as const).map((
        name,
      ) => [name, {
        value: (connection[name] as (...args: unknown[]) => unknown).bind(connection),
      }]),
    ) }) as Connection
    await rewriteBucket({ connection: removing, bodies: { ofBlock: blockKey, ofFile: fileKey },
      fileOwners, touch: async () => {}, env: { nowMs: () => Date.now() } }, { tenant, project,
      lifeS: long }, bucketOf(hourOf(root.startUs)), () => false)
    const { span_bucket: _, ...left } = await daysLeft()
    // The note of the removal alone.
    expect(left).toEqual({ span_head: [], span_location: [], trace_block: [], span_file: [],
      log_chunk: [] })
    expect(await store.heads([root])).toEqual([])
  })
})

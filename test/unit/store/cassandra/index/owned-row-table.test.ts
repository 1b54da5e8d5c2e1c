/** How a shard is read: pages are small in bytes, however large their rows are. */

import { expect, it } from 'vitest'

import { OwnedRowTable } from '../../../../../src/store/cassandra/index/owned-row-table.ts'
import { StoredBodies } from '../../../../../src/store/cassandra/tables/stored-body.ts'

const KiB = 1024

/** A shard with `rows` rows of `size` bytes; a page of more than `bearable` bytes fails. */
function shardOf(
  { rows, size, chunks = null, bearable = Infinity }: { readonly rows: number;
    readonly size: number; readonly chunks?: number | null; readonly bearable?: number },
) {
  const pages: number[] = []
  let [underWay, most] = [0, 0]
  const read = async () => {
    most = Math.max(most, ++underWay)
    await new Promise(setImmediate)
    underWay--
    return new Uint8Array(size)
  }
  const row = (at: number) => ({ tenant: 't', thread_id: `x${at}`, chunk_rank: 1n, chunks,
    body: new Uint8Array(chunks === null ? size : 0) })
  const connection = {
    keyspace: 'k',
    async *pages(_: unknown, sizeNow: () => number) {
      for (let at = 0; at < rows; at += pages.at(-1)!) {
        pages.push(Math.min(sizeNow(), rows - at))
        if (pages.at(-1)! * size > bearable) throw new Error('no answer in time')
        yield Array.from({ length: pages.at(-1)! }, (_each, i) => row(at + i))
      }
    },
  }
  const table = new OwnedRowTable({
    connection: connection as never,
    settings: { shards: 1, buckets: 1 },
    kind: 'thread',
    bodies: new StoredBodies({} as never, { read } as never),
  })
  const load = async () => {
    let found = 0
    for await (const bodies of table.bodiesOf(0)) found += bodies.length
    return found
  }
  return { load, pages, mostAtOnce: () => most }
}

it('Large rows are read few at a time, small ones many at a time.', async () => {
  const large = shardOf({ rows: 300, size: 200 * KiB })
  expect(await large.load()).toBe(300)
  expect(Math.max(...large.pages.slice(1))).toBe(20)
  const small = shardOf({ rows: 2_000, size: 500 })
  expect(await small.load()).toBe(2_000)
  expect(small.pages).toEqual([50, 500, 500, 500, 450])
  expect(await small.load()).toBe(2_000)
  expect(small.pages.slice(5)).toEqual([500, 500, 500, 500])
})

it('A page that failed is asked for with fewer rows.', async () => {
  const { load, pages } = shardOf({ rows: 60, size: 250 * KiB, bearable: 6_000 * KiB })
  await expect(load()).rejects.toThrow('in time')
  expect(await load()).toBe(60)
  expect(pages.slice(0, 2)).toEqual([50, 13])
})

it('Bodies that are stored outside their rows are read eight at a time.', async () => {
  const { load, mostAtOnce } = shardOf({ rows: 50, size: 300 * KiB, chunks: 1 })
  expect(await load()).toBe(50)
  expect(mostAtOnce()).toBe(8)
})

it('Removes the mark of an earlier version when it stores the row of a thread.', async () => {
  const writes: { cql: string; values: unknown[] }[] = []
  const connection = { keyspace: 'k',
    write: async (statement: typeof writes[number]) => void writes.push(statement) } as never
  const put = async (kind: 'thread' | 'cron') => {
    const table = new OwnedRowTable({ connection, settings: { shards: 1, buckets: 1 }, kind,
      bodies: new StoredBodies(connection, {} as never) })
    await table.put({ tenant: 't', id: 'x', body: new Uint8Array(1), rank: 1n })
    return writes.at(-1)!
  }
  const { cql, values } = await put('thread')
  const columns = /\((.*?)\)/.exec(cql)![1]!.split(', ')
  expect(values[columns.indexOf('unsettled')]).toBe(false)
  expect((await put('cron')).cql).not.toContain('unsettled')
})

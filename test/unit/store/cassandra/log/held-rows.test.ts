/** Memory that the log holds for idle branches: bounded, whatever was read to open them. */

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { describe, expect, it } from 'vitest'

import { Places } from '../../../../../proto/gen/storage/v1/partition.ts'
import { bytesOf } from '../../../../../src/checkpoint/index.ts'
import type { Connection, Row,
  Statement } from '../../../../../src/store/cassandra/driver/connection.ts'
import { ChunkTable } from '../../../../../src/store/cassandra/log/chunk-table.ts'
import { encodeRanges } from '../../../../../src/store/cassandra/log/epoch-range.ts'
import { LogTable } from '../../../../../src/store/cassandra/log/log-table.ts'
import { RowCache } from '../../../../../src/store/cassandra/log/row-cache.ts'
import { WriteTimestamp } from '../../../../../src/store/cassandra/log/write-timestamp.ts'
import { virtualEnv } from '../../../../support/env.ts'
import { openCheck } from '../../../../support/open-check.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Rows of each branch, all of one earlier epoch. The last four wait for a place index row. */
const rowsOfBranch = 12
const bodyBytes = 10_000

/** A store in which each branch has such rows. It remembers which of the bodies are still held. */
function storeOfBranches(cacheBytes: number) {
  const bodies: WeakRef<ArrayBufferLike>[] = []
  const rowAt = (seq: number): Row => {
    const body = Buffer.from(new Uint8Array(bodyBytes).buffer)
    bodies.push(new WeakRef(body.buffer))
    const places = Buffer.from(bytesOf(Places, { places: [{ id: `c${seq}`, seq, base: seq }] }))
    const ranges = Buffer.from(encodeRanges([{ epoch: 1, bucket: 0, from: 1 }]))
    const row = { epoch: 1n, seq: BigInt(seq), prev_epoch: 1n, settled_seq: BigInt(seq - 1),
      bucket_bytes: seq * bodyBytes, stretches: ranges, places, chunks: null, body }
    return row as Partial<Row> as Row
  }
  const read = async ({ cql, values }: Statement): Promise<Row[]> => {
    const isEnd = cql.includes('epoch >= 1 LIMIT ?') && values[1] === 0
    if (!isEnd) return []
    return Array.from({ length: rowsOfBranch }, (_, at) => rowAt(rowsOfBranch - at))
  }
  const connection = { keyspace: 'k', read, write: async () => {},
    batch: async () => {} } as Partial<Connection> as Connection
  const cache = new RowCache(cacheBytes)
  const log = new LogTable({ connection, rank: new WriteTimestamp(), cache, env: virtualEnv(),
    chunks: new ChunkTable(connection), check: openCheck, commit: 'validate',
    isDead: async () => false })
  const heldBytes = async () => {
    // A WeakRef keeps its target until the turn of the event loop ends.
    await new Promise(setImmediate)
    collect()
    return bodies.filter((body) => body.deref() !== undefined).length * bodyBytes
  }
  return { log, cache, heldBytes }
}

describe('branches that were opened', () => {
  it('hold no rows beyond the limit of the cache', async () => {
    const limitBytes = 400_000
    const { log, cache, heldBytes } = storeOfBranches(limitBytes)
    for (let i = 0; i < 30; i++) await log.open({ id: `b${i}`, ancestors: [] }, 2)
    expect(await heldBytes()).toBeLessThanOrEqual(limitBytes)
    expect(cache.stats.bytes).toBeGreaterThan(limitBytes / 2)
    log.forget()
    expect([await heldBytes(), cache.stats.bytes]).toEqual([0, 0])
  })

  it('hold no rows at all without a cache', async () => {
    const { log, heldBytes } = storeOfBranches(0)
    for (let i = 0; i < 30; i++) await log.open({ id: `b${i}`, ancestors: [] }, 2)
    // The cache retains the branch that was used last.
    expect(await heldBytes()).toBeLessThanOrEqual(rowsOfBranch * bodyBytes)
  })
})

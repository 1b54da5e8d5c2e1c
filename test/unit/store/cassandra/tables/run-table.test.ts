/** Lists of runs with large inputs: few are read at a time, and none without need. */

import { describe, expect, it } from 'vitest'

import { RunRow } from '../../../../../proto/gen/storage/v1/row.ts'
import type { RunQuery } from '../../../../../src/search/index.ts'
import { CassandraLog } from '../../../../../src/store/cassandra/log-port.ts'
import { RunTable } from '../../../../../src/store/cassandra/tables/run-table.ts'
import { aRun } from '../../../../contract/rows.ts'

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
      return rows.filter(({ runId }) => runId === values[2]).map((row) => ({ row }))
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
  const table = new RunTable(connection as never, bodies as never)
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

describe('the place of a run', () => {
  it('is written once, and again after another member may have owned its thread', async () => {
    const places: string[] = []
    const connection = { keyspace: 'heddle', pages: async function*() {},
      write: async ({ cql }: { cql: string }) => void places.push(/heddle\.(\w+)/.exec(cql)![1]!) }
    const table = new RunTable(connection as never, { put: async () => {} } as never)
    const log = new CassandraLog({ runs: table, log: { forget: () => {} } } as never)
    const row = aRun({ threadId: 't' })
    await table.put({ row, rank: 1n })
    await table.put({ row, rank: 2n })
    expect(places.toSorted()).toEqual(['run_hour', 'run_order', 'run_time'])
    log.forget()
    await table.put({ row, rank: 3n })
    expect(places.slice(3).toSorted()).toEqual(['run_order', 'run_time'])
  })
})

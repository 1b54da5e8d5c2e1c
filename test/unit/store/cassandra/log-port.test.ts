/**
 * The order of an append: the log, then the ownership check, then the rows that are derived from
 * it.
 */

import { expect, it } from 'vitest'

import type { RowUpdate } from '../../../../src/checkpoint/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { CassandraLog } from '../../../../src/store/cassandra/log-port.ts'
import type { LogPortParts } from '../../../../src/store/cassandra/log-port.ts'
import { WriteTimestamp } from '../../../../src/store/cassandra/log/write-timestamp.ts'
import { unborn } from '../../../../src/thread/model/thread-state.ts'
import { aRun } from '../../../contract/rows.ts'
import { checkThat } from '../../../support/open-check.ts'

const branch = { id: 'b', ancestors: [] }
const newRow = { tenant: 't', branch, epoch: 1, seq: 1, prevEpoch: 0, body: new Uint8Array(),
  places: [] }
const { row } = unborn('t', 'x', branch)
const update = { table: 'thread', row: { ...row, epoch: 1, seq: 1 } } as const

function logWith(confirm: () => Promise<void>) {
  const done: string[] = []
  const puts: { rank: bigint; over?: bigint }[] = []
  const note = (what: string) => async () => {
    done.push(what)
  }
  const parts = {
    connection: { surely: (work: () => Promise<void>) => work() },
    rank: new WriteTimestamp(),
    log: { append: note('log') },
    branches: {},
    runs: { removeAll: note('runs'), put: async (put: { rank: bigint; over?: bigint }) => {
      puts.push(put)
      done.push('run')
    } },
    billing: { put: note('bill') },
    rows: { thread: { put: note('row') }, assistant: { put: note('row') } },
    index: { put: note('index') },
    check: checkThat(async () => {
      done.push('gate')
      await confirm()
    }),
  }
  return { done, puts, log: new CassandraLog(parts as unknown as LogPortParts) }
}

const run = aRun({ tenant: 't', threadId: 'x', runId: 'r' })
const runUpdate = { table: 'run', row: run } as const
const firstRun = { table: 'run', row: { ...run, createdSeq: 1 } } as const
it('A copy that was certainly not written keeps nothing of its source.', async () => {
  for (const ambiguous of [false, true]) {
    const needs = new Set<string>()
    const idOf = (row: typeof newRow) => row.branch.id
    const log = new CassandraLog({
      connection: { surely: (work: () => Promise<void>) => work() },
      rank: new WriteTimestamp(),
      branches: {
        noteCopy: async (row: typeof newRow) => needs.add(idOf(row)).size > 0,
        release: async ({ id }: typeof branch) => {
          needs.delete(id)
          return []
        },
      },
      log: {
        append: async () => {
          throw new HeddleError('unavailable', undefined, { ambiguous })
        },
        tail: async () => ({ epoch: 1, seq: 5 }),
      },
      check: checkThat(async () => {}),
    } as unknown as LogPortParts)
    const copy = { id: 'c', ancestors: [{ id: 'b', through: 5 }] }
    await expect(log.append([{ ...newRow, branch: copy, seq: 6 }], []))
      .rejects.toMatchObject({ code: 'unavailable' })
    expect([...needs]).toEqual(ambiguous ? ['c'] : [])
  }
})

it('A refused copy releases what it alone had kept of a deleted source.', async () => {
  const cuts: unknown[] = []
  const log = new CassandraLog({
    rank: new WriteTimestamp(),
    branches: {
      noteCopy: async () => false,
      release: async (
        { id }: typeof branch,
      ) => [{ branchId: id, after: 0 }, { branchId: 'b', after: 3 }],
      forget: async () => {},
    },
    log: {
      append: async () => {},
      cut: async (cut: unknown) => void cuts.push(cut),
      tail: async ({ id }: typeof branch) => (id === 'b' ? { epoch: 4, seq: 5 } : undefined),
    },
    check: checkThat(async () => {}),
  } as unknown as LogPortParts)
  const copy = { id: 'c', ancestors: [{ id: 'b', through: 5 }] }
  await expect(log.append([{ ...newRow, branch: copy, seq: 6 }], []))
    .rejects.toMatchObject({ code: 'not_found' })
  expect(cuts).toEqual(
    [{ branchId: 'c', after: 0, epoch: 1 }, { branchId: 'b', after: 3, epoch: 4 }],
  )
})

it('A mutable row is written after its log row is confirmed.', async () => {
  const { done, log } = logWith(async () => {})
  await log.append([{ ...newRow, seq: 2, prevEpoch: 1 }], [update])
  expect(done).toEqual(['log', 'gate', 'row', 'gate', 'index'])
})

it('Leftover runs are removed before a new thread gets its row.', async () => {
  const { done, log } = logWith(async () => {})
  await log.append([newRow], [update])
  expect(done).toEqual(['log', 'runs', 'row', 'gate', 'index'])
})

it('The first run of a new thread takes the place of leftover runs in one write.', async () => {
  const { done, log, puts } = logWith(async () => {})
  await log.append([newRow], [firstRun, update])
  expect(done).toEqual(['log', 'run', 'row', 'gate', 'index'])
  expect(puts[0]!.over! < puts[0]!.rank).toBe(true)
  await log.append([{ ...newRow, seq: 2, prevEpoch: 1 }], [runUpdate, update])
  expect(puts[1]).not.toHaveProperty('over', expect.anything())
})

it('The first row of a thread needs one confirmation, unless it is billed.', async () => {
  const { done, log } = logWith(async () => {})
  await log.append([newRow], [firstRun, update], () => void done.push('logged'))
  expect(done.splice(0)).toEqual(['log', 'run', 'row', 'gate', 'logged', 'index'])
  const bill = { table: 'billing', row: { tenant: 't', threadId: 'x' } } as never
  await log.append([newRow], [firstRun, bill, update])
  expect(done.filter((what) => what !== 'run')).toEqual(['log', 'gate', 'bill', 'row', 'gate',
    'index'])
  done.length = 0
  // The row of another thread speaks for another log.
  const other: RowUpdate = { table: 'thread',
    row: { ...update.row, threadId: 'y', branch: { id: 'c', ancestors: [] }, seq: 7 } }
  await log.append([{ ...newRow, branch: { id: 'd', ancestors: [] } }], [other])
  expect(done).toEqual(['log', 'gate', 'row', 'gate', 'index'])
})

it('Under an id that was just made nothing is left over.', async () => {
  const { done, log } = logWith(async () => {})
  await log.append([{ ...newRow, isNewId: true }], [update])
  expect(done).toEqual(['log', 'row', 'gate', 'index'])
})

it('Mutable rows are not written if the session had ended before the log row passed.', async () => {
  const { done, log } = logWith(() => Promise.reject(new HeddleError('not_owner')))
  await expect(log.append([{ ...newRow, seq: 2, prevEpoch: 1 }], [update])).rejects.toMatchObject({
    code: 'not_owner',
  })
  expect(done).toEqual(['log', 'gate'])
})

it('Rows of the log alone pass the ownership check once.', async () => {
  const { done, log } = logWith(async () => {})
  await log.append([newRow], [])
  expect(done).toEqual(['log', 'gate', 'index'])
})

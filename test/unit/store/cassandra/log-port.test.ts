/**
 * The order of an append: the log, then the ownership check, then the rows that are derived from
 * it.
 */

import { describe, expect, it } from 'vitest'

import type { RowUpdate } from '../../../../src/checkpoint/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { CassandraLog } from '../../../../src/store/cassandra/log-port.ts'
import type { LogPortParts } from '../../../../src/store/cassandra/log-port.ts'
import { Projections } from '../../../../src/store/cassandra/projection/projections.ts'
import { WriteTimestamp } from '../../../../src/store/cassandra/log/write-timestamp.ts'
import { unborn } from '../../../../src/thread/model/thread-state.ts'
import { aRun } from '../../../contract/rows.ts'
import { virtualEnv } from '../../../support/env.ts'
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

/** The same, where rows are written behind the acknowledgement. */
function lateLogWith(confirm: () => Promise<void> = async () => {}) {
  const env = virtualEnv()
  const done: string[] = []
  const note = (what: string) => async () => {
    done.push(what)
  }
  /** While it is set, rows of runs cannot be written. */
  const table = { isAway: false }
  const connection = { surely: async (work: () => Promise<void>) => {
    // As the real one, it tries until it has succeeded.
    for (;;) {
      try {
        return await work()
      } catch {
        await new Promise<void>((resolve) => void env.after(1_000, resolve))
      }
    }
  } }
  const putRun = async () => {
    if (table.isAway) throw new HeddleError('unavailable')
    done.push('run')
  }
  const thread = {
    shardOf: () => 0,
    put: async ({ unsettled }: { readonly unsettled?: boolean }) => {
      done.push(unsettled === undefined ? 'row' : unsettled ? 'marked row' : 'settled row')
    },
    mark: async ({ unsettled }: { readonly unsettled: boolean }) => {
      await Promise.resolve()
      done.push(unsettled ? 'mark' : 'unmark')
    },
  }
  const runs = { put: putRun, removeAll: note('old runs'), remove: note('run removed') }
  const projections = new Projections({ env, connection, runs, threads: thread })
  const log = new CassandraLog({
    env,
    connection,
    rank: new WriteTimestamp(),
    log: { append: note('log') },
    branches: { release: async () => [] },
    runs,
    billing: { put: note('billing') },
    rows: { thread: { ...thread, remove: note('row removed') } },
    index: { put: note('index'), holds: () => true, remove: note('index removed') },
    projections,
    check: checkThat(async () => {
      done.push('gate')
      await confirm()
    }),
  } as unknown as LogPortParts)
  const begin = () => done.splice(0)
  return { done, log, env, begin, table, projections }
}

const run = aRun({ tenant: 't', threadId: 'x', runId: 'r' })
const unfinished = { runId: 'r', createdSeq: 1, updatedAtMs: 1, status: 'running', started: true,
  attempt: 1, baseCheckpointId: '', firstSeq: 1, startedAtMs: 1, notBeforeMs: 0, inputCharacters: 0,
  ownerDeaths: 0, suspect: false }
const runUpdate = { table: 'run', row: run } as const
const firstRun = { table: 'run', row: { ...run, createdSeq: 1 } } as const
const later = { ...newRow, seq: 2, prevEpoch: 1 }

/** Lets what was begun go on. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

describe('rows behind the acknowledgement', () => {
  it('wait when the thread is marked and the session is confirmed after that, once', async () => {
    const { log, env, begin } = lateLogWith()
    await log.append([later], [runUpdate, update])
    expect(begin()).toEqual(['log', 'mark', 'gate', 'index'])
    await log.append([{ ...later, seq: 3 }], [runUpdate, update])
    expect(begin()).toEqual(['log', 'gate', 'index'])
    env.advance(1_000)
    await turns()
    expect(begin()).toEqual(['run', 'settled row'])
  })

  it('are not those of a thread at rest that gets a new owner', async () => {
    const { log, begin } = lateLogWith()
    const opening = { ...later, epoch: 2 }
    await log.append([opening], [{ table: 'thread', row: { ...update.row, epoch: 2 } }])
    expect(begin()).toEqual(['log', 'gate', 'settled row', 'gate', 'index'])
    const busy = { ...update.row, epoch: 3, unfinished: [unfinished] }
    await log.append([{ ...later, epoch: 3, prevEpoch: 2, seq: 3 }], [{ table: 'thread',
      row: busy }])
    expect(begin()).toEqual(['log', 'mark', 'gate', 'index'])
  })

  it('do not exist if the session had ended', async () => {
    const { log, env, begin } = lateLogWith(() => Promise.reject(new HeddleError('not_owner')))
    await expect(log.append([later], [runUpdate, update])).rejects.toThrow()
    expect(begin()).toEqual(['log', 'mark', 'gate'])
    env.advance(10_000)
    await turns()
    expect(begin()).toEqual(['unmark'])
  })

  it('of a new thread are those of the runs that its row names', async () => {
    const { log, env, begin } = lateLogWith()
    const named: RowUpdate = { table: 'thread', row: { ...update.row, unfinished: [unfinished] } }
    await log.append([{ ...newRow, isNewId: true }], [runUpdate, named])
    expect(begin()).toEqual(['log', 'marked row', 'gate', 'index'])
    await log.append([later], [runUpdate, update])
    expect(begin()).toEqual(['log', 'gate', 'index'])
    env.advance(1_000)
    await turns()
    expect(begin()).toEqual(['run', 'settled row'])
  })

  it.each([true, false])('wait for the row of their thread (still made: %s)', async (isMade) => {
    const session = { isOver: false }
    const { log, env, begin, table } = lateLogWith(async () => {
      if (session.isOver) throw new HeddleError('not_owner')
    })
    table.isAway = true
    const outcomes: string[] = []
    const noted = (name: string) =>
      [() => outcomes.push(name), () => outcomes.push(`no ${name}`)] as const
    const born = log.append([{ ...newRow, isNewId: true }], [runUpdate, update])
      .then(...noted('thread'))
    // A change that has a row of its own, and a superstep that has none.
    const next = log.append([later], [runUpdate, update]).then(...noted('run'))
    const step = log.append([{ ...later, seq: 3, prevEpoch: 1 }], []).then(...noted('step'))
    await turns()
    expect([begin(), outcomes]).toEqual([['log', 'log', 'log', 'mark', 'gate'], []])
    session.isOver = !isMade
    table.isAway = false
    env.advance(1_000)
    await Promise.all([born, next, step])
    // Without its row nobody finds the thread, and so nothing of it is acknowledged.
    const all = ['thread', 'run', 'step']
    expect(outcomes.toSorted())
      .toEqual((isMade ? all : all.map((name) => `no ${name}`)).toSorted())
  })

  it('of a new thread do not wait if its run has ended', async () => {
    const { log, begin } = lateLogWith()
    await log.append([{ ...newRow, isNewId: true }], [runUpdate, update])
    expect(begin()).toEqual(['log', 'run', 'settled row', 'gate', 'index'])
  })

  it('hold no acknowledgement up while they cannot be written', async () => {
    const { log, env, begin, table, projections } = lateLogWith()
    table.isAway = true
    for (let seq = 2; seq < 6; seq++) {
      await log.append([{ ...later, seq }], [runUpdate, update])
      env.advance(1_000)
      await turns()
    }
    expect(begin()).toEqual(['log', 'mark', 'gate', 'index',
      ...Array.from({ length: 3 }, () => ['log', 'gate', 'index']).flat()])
    expect(projections.stats).toMatchObject({ rows: 2, failing: 1 })
    table.isAway = false
    env.advance(1_000)
    await turns()
    expect(begin()).toEqual(['run', 'settled row'])
    expect(projections.stats).toMatchObject({ rows: 0, failing: 0 })
  })

  it('above their bound are written first, and runs wait until they can be', async () => {
    const { log, env, begin, table } = lateLogWith()
    table.isAway = true
    const long = { ...runUpdate, row: { ...run, kwargsJson: 'x'.repeat(33 * 1024 * 1024) } }
    await log.append([later], [long, update])
    begin()
    let isAcknowledged = false
    const other = { ...runUpdate, row: { ...run, threadId: 'y' } }
    const append = log.append([{ ...later, branch: { id: 'c', ancestors: [] } }], [other, {
      table: 'thread',
      row: { ...update.row, threadId: 'y' },
    }])
      .then(() => {
        isAcknowledged = true
      })
    env.advance(4_000)
    await turns()
    expect([begin(), isAcknowledged]).toEqual([['log', 'gate'], false])
    table.isAway = false
    env.advance(1_000)
    await append
    expect(begin()).toEqual(expect.arrayContaining(['run', 'settled row', 'gate', 'index']))
  })

  it('come before what may not wait, as the removal of a run', async () => {
    const { log, begin } = lateLogWith()
    await log.append([later], [runUpdate, update])
    begin()
    await log.append([{ ...later, seq: 3 }], [{ table: 'run_removed', tenant: 't', threadId: 'x',
      runId: 'r' }, update])
    expect(begin()).toEqual(['log', 'gate', 'run', 'run removed', 'row', 'gate', 'index'])
  })

  it('of a run are written before its thread is purged', async () => {
    const { log, env, begin } = lateLogWith()
    await log.append([later], [runUpdate, update])
    begin()
    await log.purge({ table: 'thread', tenant: 't', id: 'x', branch, epoch: 1 })
    expect(begin()).toEqual(['run', 'old runs', 'row removed', 'index removed'])
    env.advance(10_000)
    await turns()
    expect(begin()).toEqual([])
  })

  it('are not those of billing, or of a thread that is being deleted', async () => {
    const { log, begin } = lateLogWith()
    const bill = { table: 'billing', row: { tenant: 't', threadId: 'x' } } as never
    await log.append([later], [bill, update])
    expect(begin()).toEqual(['log', 'mark', 'gate', 'billing', 'index'])
    const deleted = { table: 'thread', row: { ...update.row, deleted: true } } as const
    await log.append([{ ...later, seq: 3 }], [deleted])
    expect(begin()).toEqual(['log', 'gate', 'row', 'gate', 'index'])
  })
})

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

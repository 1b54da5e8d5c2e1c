/** The rules that keep the log correct, and how to remove each one, to show that it is needed. */

import { AsyncLocalStorage } from 'node:async_hooks'

import type { OwnershipCheck, SessionPort, Transport } from '../../cluster/index.ts'
import type { LogPort, NewRow } from '../../src/checkpoint/index.ts'
import type { ItemIndex } from '../../src/search/index.ts'
import type { Connection, Row, Statement } from '../../src/store/cassandra/driver/connection.ts'
import type { StoredRow } from '../../src/store/cassandra/log/log-row.ts'
import { RowCache } from '../../src/store/cassandra/log/row-cache.ts'
import { areOnlyBirths, bornIn } from '../../src/store/cassandra/row-updates.ts'
import { checkThat, openCheck } from '../support/open-check.ts'

/**
 * chain          the log ends before the first missing row of its chain
 * order          a row is acknowledged when it and every row before it are on a quorum
 * open_row       a new epoch appends a row before it answers anything
 * validate_after the session is read after the write, not before it
 * reply_fence    replies to reads pass the ownership check as well
 * read_repair    a row that was read is on a quorum from then on
 * cache_ends     what is cached of a log ends with its writer, and with a shard that is given back
 * places_again   places that rows taken over may have carried are written again
 * roll_over      a new bucket begins when the session was validated after the last row
 * fence          nothing is claimed from a session that may be alive
 * fence_quorum   a fence is on a quorum when it is answered
 * rows_after     rows are read after the claim
 * rows_last      mutable rows are written when the rows of the log that they speak for are history
 * drain          a shard is given back only when nothing in it is under way
 * same_id        each retry of a command has the same id
 * same_life      a removal names the life that it ends
 * copies_noted   what a copy needs of others is noted before it is made
 * kept_first     what is kept back is written before anybody is answered about it
 * purged_first   the rows of a life are removed before the next one with that id begins
 * item_commands  the row of an item names the newest commands that changed it
 * due_run_id     the id of a run of a cron is made from its due time
 */
export const rules = ['chain', 'order', 'open_row', 'validate_after', 'reply_fence', 'read_repair',
  'cache_ends', 'places_again', 'roll_over', 'fence', 'fence_quorum', 'rows_after', 'rows_last',
  'drain', 'same_id', 'same_life', 'copies_noted', 'kept_first', 'purged_first', 'item_commands',
  'due_run_id'] as const

export type Rule = typeof rules[number]

/** The tables of the rows that a change of a thread writes, in the order of the writes. */
export type WrittenTable = 'log' | 'run' | 'thread_row'

/** A row that is on a quorum, whether or not those are that were sent before it. */
export interface WrittenRow {
  readonly table: WrittenTable
  readonly values: Statement['values']
}

/** Called when a row is on a quorum. The member learns of it when the result resolves. */
export type RowWritten = (row: WrittenRow) => Promise<void> | undefined

/** The connection as the log uses it. */
export function connectionWithout(rule: Rule | undefined, real: Connection,
  written: RowWritten): Connection {
  const noted = async (statements: readonly Statement[], work: Promise<void>) => {
    await work
    for (const { cql, values } of statements) {
      const table = tableOf(cql)
      const known = table && written({ table, values })
      if (known) await known
    }
  }
  const read = async (statement: Statement) => {
    const rows = await real.read(statement)
    return rule === 'chain' && statement.cql.includes('settled_seq') ? rows.map(unchained) : rows
  }
  const batch = async (statements: readonly Statement[]) => {
    if (rule === 'places_again' && !statements.some(({ cql }) => isLogRow(cql))) return
    await noted(statements, real.batch(statements))
  }
  const connection: Omit<Connection, 'localHosts' | 'clockAheadMs' | 'agreed' | 'repeatableBatch'> =
    {
      keyspace: real.keyspace,
      control: real.control,
      localDataCenter: real.localDataCenter,
      write: async (statement) => {
        if (rule === 'copies_noted' && /^INSERT INTO \w+\.branch_need /.test(statement.cql)) return
        await noted([statement], real.write(statement))
      },
      batch,
      read,
      pages: (statement, fetchSize) => real.pages(statement, fetchSize),
      swap: (statements) => real.swap(statements),
      swapSurely: (statement) => real.swapSurely(statement),
      surely: (work) => real.surely(work),
      execute: (cql) => real.execute(cql),
      reachable: () => real.reachable(),
      close: () => real.close(),
    }
  return connection as Connection
}

function tableOf(cql: string): WrittenTable | undefined {
  if (isLogRow(cql)) return 'log'
  return /^INSERT INTO \w+\.(run|thread_row) /.exec(cql)?.[1] as WrittenTable | undefined
}

function isLogRow(cql: string): boolean {
  return /INSERT INTO \w+\.log \(/.test(cql) && cql.includes('prev_epoch')
}

/** The row, claiming that everything before it is on a quorum. */
function unchained(row: Row): Row {
  return { ...row, settled_seq: (row['seq'] as bigint) - 1n } as unknown as Row
}

export function sessionsWithout(rule: Rule | undefined, real: SessionPort): SessionPort {
  const fence: SessionPort['fence'] = async (session, by) => {
    if (rule === 'fence') return 'fenced'
    return real.fence(session, by)
  }
  return {
    fence,
    join: (member) => real.join(member),
    state: (session) => real.state(session),
    leave: (session) => real.leave(session),
  }
}

/** The transport between members. */
export function transportWithout(rule: Rule | undefined, real: Transport,
  newId: () => string): Transport {
  return {
    deliver: (to, key, command, delivery) =>
      real.deliver(to, key, command, rule === 'same_id' ? { ...delivery, id: newId() } : delivery),
    follow: real.follow,
  }
}

/** Number of ownership checks that each append has reached. */
const calls = new AsyncLocalStorage<{ passes: number }>()

/** The ownership checks of rolling over and of acknowledging. */
export function checksWithout(rule: Rule | undefined,
  check: OwnershipCheck
): { readonly rolling: Pick<OwnershipCheck, 'confirm'>;
  readonly appending: Pick<OwnershipCheck, 'confirm'> } {
  const second = checkThat(async () => {
    if (calls.getStore()!.passes++ > 0) await check.confirm()
  })
  return {
    rolling: rule === 'roll_over' ? openCheck : check,
    appending: rule === 'validate_after' ? openCheck : rule === 'rows_last' ? second : check,
  }
}

/** Bytes of what a member knows of logs: few, so that some of it goes all the time. */
const cacheBytes = 40_000

/** The cache of a log. */
export function cacheWithout(rule: Rule | undefined): RowCache {
  const cache = new RowCache(cacheBytes)
  if (rule !== 'cache_ends') return cache
  // All writers of a branch are one to it.
  const begun = new Set<string>()
  const [anyWriter, begin] = [{ settledSeq: 0 }, cache.begin.bind(cache)]
  const [settled, placeNow] = [cache.settled.bind(cache), cache.placeNow.bind(cache)]
  return Object.assign(cache, {
    begin: (branchId: string, _: object, newest?: readonly StoredRow[]) => {
      if (!begun.has(branchId)) begin(branchId, anyWriter, newest)
      begun.add(branchId)
    },
    settled: (branchId: string, _: object, row: NewRow) => settled(branchId, anyWriter, row),
    placeNow: (branchId: string, _: object, name: string) => placeNow(branchId, anyWriter, name),
    clear: () => {},
  })
}

/** The rows of items as their actors see them. */
export function itemsWithout(rule: Rule | undefined,
  real: Pick<ItemIndex, 'get'>): Pick<ItemIndex, 'get'> {
  return { get: async (tenant, id) => {
    const row = await real.get(tenant, id)
    return row && rule === 'item_commands' ? { ...row, applied: [] } : row
  } }
}

/** The log as actors see it. */
export function logWithout(rule: Rule | undefined, real: LogPort, check: OwnershipCheck): LogPort {
  return {
    shared: rule !== 'open_row',
    newBranchId: real.newBranchId,
    open: real.open,
    append: async (rows, updates) => {
      if (rule === 'validate_after') await check.confirm()
      const isConfirmedOnce = updates.length === 0 ||
        areOnlyBirths(rows, updates, bornIn(rows, updates))
      await calls.run({ passes: isConfirmedOnce ? 1 : 0 }, () => real.append(rows, updates))
    },
    tail: real.tail,
    read: real.read,
    findCheckpoint: real.findCheckpoint,
    purge: (subject) => real.purge(subject),
  }
}

/** Writes that are committed together fail one by one. */

import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

import { Database } from '../../../../../src/store/embedded/file/database.ts'
import { diskError } from '../../../../../src/store/embedded/file/disk-error.ts'
import { commitTogether } from '../../../../../src/store/embedded/writer/group-commit.ts'
import type { Commit } from '../../../../../src/store/embedded/writer/group-commit.ts'
import { schema, Tables } from '../../../../../src/store/embedded/requests/tables.ts'
import type { Write } from '../../../../../src/store/embedded/requests/write.ts'
import { aBranch, aRow } from '../../../../contract/rows.ts'
import { isNight } from '../../../../support/repeats.ts'

describe('a group commit', () => {
  let directory: string
  let database: Database
  let tables: Tables

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'heddle-commit-'))
    database = new Database(join(directory, 'heddle.db'), schema)
    tables = new Tables(database)
  })
  afterEach(() => {
    database.close()
    rmSync(directory, { recursive: true })
  })

  const commit = (write: Write): Commit => ({ write, number: 0, acknowledged: false })
  const append = (branch = aBranch(), bytes = 10, seq = 1) =>
    commit({ kind: 'append', rows: [aRow({ branch, seq, body: new Uint8Array(bytes) })],
      updates: [] })
  const thread = (threadId: string, createdAtMs: number) =>
    commit({ kind: 'append', rows: [],
      updates: [{ table: 'thread',
        entry: { tenant: 'local', threadId, branchId: threadId, epoch: 1, seq: 1, status: 'busy',
          hidden: false, owes: false, createdAtMs, updatedAtMs: 1, stateUpdatedAtMs: 1,
          metadataJson: '{}', body: new Uint8Array() } }] })
  it('leaves nothing of a transaction that fails', () => {
    database.prepare('CREATE TABLE noted (what TEXT)').run()
    expect(() =>
      database.transaction(() => {
        database.prepare("INSERT INTO noted VALUES ('half')").run()
        throw new Error('and no further')
      })
    ).toThrow('no further')
    expect(database.prepare('SELECT what FROM noted').all()).toEqual([])
  })

  const fillDisk = () => {
    const [pages] = database.prepare<[number]>('PRAGMA page_count').get()!
    database.prepare(`PRAGMA max_page_count = ${pages + 20}`).get()
  }

  it('commits all writes but those that are refused', () => {
    const branch = aBranch()
    const outcomes = commitTogether(database, tables, [append(branch), append(branch),
      append(branch, 10, 2)])
    expect(outcomes).toEqual([undefined, expect.objectContaining({ code: 'stale_append' }),
      undefined])
    expect(tables.reader.tail(branch)).toEqual({ epoch: 1, seq: 2 })
  })

  it('fails only the write that does not fit on a full disk', () => {
    fillDisk()
    const [small, large, other] = [aBranch(), aBranch(), aBranch()]
    const outcomes = commitTogether(database, tables, [append(small), append(large, 1_000_000),
      append(other)])
    expect(outcomes.map((outcome) => outcome === undefined)).toEqual([true, false, true])
    expect(diskError(outcomes[1], '/data/heddle.db')).toMatchObject({ code: 'unavailable',
      message: 'The disk of /data/heddle.db is full. Free some space and try again.' })
    expect(tables.reader.tail(large)).toBeUndefined()
    const next = commitTogether(database, tables, [append(small, 10, 2), append(large),
      append(other, 10, 2)])
    expect(next).toEqual([undefined, undefined, undefined])
  })

  it('counts threads correctly after a commit that failed in part', () => {
    fillDisk()
    expect(tables.reader.countThreads({ tenant: 'local' })).toBe(0)
    const outcomes = commitTogether(database, tables, [thread('a', 1), append(aBranch(), 1_000_000),
      thread('b', 2)])
    expect(outcomes.filter((outcome) => outcome === undefined).length).toBe(2)
    expect(tables.reader.countThreads({ tenant: 'local', status: 'busy' })).toBe(2)
    commitTogether(database, tables, [thread('c', 3)])
    expect(tables.reader.countThreads({ tenant: 'local' })).toBe(3)
  })

  const logBytes = () => statSync(join(directory, 'heddle.db-wal')).size
  const failDisk = () =>
    expect(() =>
      database.transaction(() => {
        throw Object.assign(new Error('disk I/O error'), { errcode: 10 })
      })
    ).toThrow('disk I/O error')

  // It waits for two seconds.
  it.runIf(isNight)('waits once for another program, however many wait with it', () => {
    commitTogether(database, tables, [append()])
    const reader = new DatabaseSync(join(directory, 'heddle.db'))
    reader.exec('BEGIN; SELECT count(*) FROM log')
    commitTogether(database, tables, [append()])
    // The next one must empty the write-ahead log, which the reader needs.
    failDisk()
    const began = performance.now()
    const outcomes = commitTogether(database, tables, [append(), append(), append(), append()])
    const patienceMs = 2_000
    expect(performance.now() - began).toBeLessThan(2 * patienceMs)
    const held = expect.objectContaining({ message: expect.stringContaining('Another program') })
    expect(outcomes.map((outcome) => diskError(outcome, 'heddle.db'))).toEqual(Array(4).fill(held))
    reader.close()
    expect(commitTogether(database, tables, [append()])).toEqual([undefined])
  })

  it('answers nothing in a read-then-rollback that the disk has ended', () => {
    expect(() => database.readThenRollback(() => database.prepare('ROLLBACK').run()))
      .toThrow('the transaction was rolled back')
    expect(database.readThenRollback(() => tables.reader.countThreads({ tenant: 'local' }))).toBe(0)
  })

  it('puts all earlier ones into the file after the disk has failed: it may have lost them', () => {
    const branch = aBranch()
    const put = (seq: number) => commitTogether(database, tables, [append(branch, 10, seq)])
    for (let seq = 1; seq <= 9; seq += 1) put(seq)
    const before = logBytes()
    failDisk()
    expect(logBytes()).toBe(before)
    expect(put(10)).toEqual([undefined])
    expect(logBytes()).toBeLessThan(before)
    expect(tables.reader.tail(branch)).toEqual({ epoch: 1, seq: 10 })
  })

  it('writes something even if no row changes: otherwise SQLite does not wait for the disk', () => {
    const numbered = (number: number) => ({ ...thread('a', 1), number })
    commitTogether(database, tables, [numbered(1)], false)
    const before = logBytes()
    expect(commitTogether(database, tables, [numbered(2)])).toEqual([undefined])
    expect(logBytes()).toBeGreaterThan(before)
    expect(tables.generation.newest.written).toBe(2)
  })

  it('writes nothing if all of them are refused', () => {
    const branch = aBranch()
    commitTogether(database, tables, [{ ...append(branch), number: 1 }])
    const before = logBytes()
    expect(commitTogether(database, tables, [{ ...append(branch), number: 2 }]))
      .toEqual([expect.objectContaining({ code: 'stale_append' })])
    expect([logBytes(), tables.generation.newest.written]).toEqual([before, 1])
  })

  it('does nothing behind an acknowledged write that fails', () => {
    fillDisk()
    const large = { ...append(aBranch(), 1_000_000), number: 1, acknowledged: true }
    const [before, behind] = [aBranch(), aBranch()]
    const outcomes = commitTogether(database, tables, [append(before), large, append(behind)])
    expect(outcomes).toEqual([undefined, outcomes[1], outcomes[1]])
    expect(outcomes[1]).toBeInstanceOf(Error)
    expect(tables.reader.tail(before)).toEqual({ epoch: 1, seq: 1 })
    expect(tables.reader.tail(behind)).toBeUndefined()
    expect(tables.generation.newest.written).toBe(0)
  })

  it('waits for the disk if asked so, whatever came before', () => {
    const syncs = () => database.prepare<[number]>('PRAGMA synchronous').get()![0]
    const [normal, full] = [1, 2]
    commitTogether(database, tables, [append()], false)
    expect(syncs()).toBe(normal)
    commitTogether(database, tables, [append()])
    expect(syncs()).toBe(full)
  })

  it('syncs to disk: only the settings are checked, for no test can cut the power', () => {
    expect(database.prepare('PRAGMA synchronous').get()).toEqual([2])
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual(['wal'])
  })
})

/** The log writer of a thread: the order of its rows, and when they count as written. */

import { describe, expect, it } from 'vitest'

import type { RunRow, ThreadRow } from '../../../../proto/gen/storage/v1/row.ts'
import { decodeRow } from '../../../../src/checkpoint/index.ts'
import type { LogPort, NewRow, RecordOf, RowUpdate } from '../../../../src/checkpoint/index.ts'
import { LogWriter } from '../../../../src/thread/log/log-writer.ts'
import { virtualEnv } from '../../../support/env.ts'
import { settled } from '../../../support/thread-house.ts'

const noted: RecordOf = { $case: 'runDeleted', value: { runId: 'r', atMs: 0 } }

interface Append {
  readonly row: NewRow
  readonly updates: readonly RowUpdate[]
  readonly logged: () => void
  readonly landed: () => void
  readonly failed: (reason: unknown) => void
}

/** A log writer on a log whose appends the test completes. */
function openWriter(tail = { epoch: 1, seq: 4 }) {
  const env = virtualEnv()
  const appends: Append[] = []
  const lost: unknown[] = []
  const append: LogPort['append'] = ([row], updates, logged) =>
    new Promise((landed, failed) => {
      appends.push({ row: row!, updates, logged: logged!, landed, failed })
    })
  const writer = new LogWriter({ log: { append } as LogPort, tenant: 't', threadId: 'x', epoch: 2,
    tail, storedBytes: 7, branch: () => ({ id: 'b', ancestors: [] }),
    threadRow: (storedBytes) => ({ storedBytes } as ThreadRow), after: env.after,
    earlier: undefined, onLost: (reason) => lost.push(reason) })
  /** A row of its own. */
  const write = async (entry: Partial<Parameters<LogWriter['write']>[0]> = {}) => {
    const written = writer.write({ records: [noted], thread: false, ...entry }, 'now')
    written.catch(() => {})
    await settled()
    return { written }
  }
  return { env, writer, appends, lost, write }
}

/** Tracks whether a promise has settled, and how. */
function fate(promise: Promise<unknown>): { is: 'open' | 'resolved' | 'rejected' } {
  const fate = { is: 'open' as 'open' | 'resolved' | 'rejected' }
  promise.then(() => {
    fate.is = 'resolved'
  }, () => {
    fate.is = 'rejected'
  })
  return fate
}

describe('a row of a log writer', () => {
  it('names the epoch of the row before it; the first one opens its own epoch', async () => {
    const { appends, write } = openWriter()
    for (let i = 0; i < 3; i++) await write()
    expect(appends.map(({ row: { epoch, seq, prevEpoch } }) => [epoch, seq, prevEpoch]))
      .toEqual([[2, 5, 1], [2, 6, 2], [2, 7, 2]])
    expect(appends.map(({ row }) => decodeRow(row.body).map(({ $case }) => $case)))
      .toEqual([['opened', 'runDeleted'], ['runDeleted'], ['runDeleted']])
  })

  it('is appended after a long one that is still encoded, and an error of that one is reported',
    async () => {
      const { writer, appends, lost } = openWriter()
      const long: RecordOf = { $case: 'runDeleted',
        value: { runId: 'r'.repeat(9 * 1024 * 1024), atMs: 0 } }
      const broken = { $case: 'runDeleted', value: { runId: 'r', atMs: 0.5 } } as RecordOf
      const rows: Promise<void>[] = []
      for (const records of [[long], [noted], [long, broken], [noted]]) {
        const written = writer.write({ records, thread: false }, 'now')
        written.catch(() => {})
        rows.push(written)
        // The row is closed in a microtask, long before it is encoded.
        await Promise.resolve()
      }
      expect(appends).toEqual([])
      await expect.poll(() => appends.length).toBe(3)
      expect(appends.map(({ row: { seq } }) => seq)).toEqual([5, 6, 8])
      expect(lost).toHaveLength(1)
      for (const { landed, logged } of appends) {
        logged()
        landed()
      }
      await Promise.all(rows.toSpliced(2, 1))
      await expect(rows[2]).rejects.toThrow('BigInt')
    })

  it('takes no more records once they are long', async () => {
    const { writer, appends } = openWriter()
    const run = (length: number): RecordOf => ({ $case: 'runCreated',
      value: { runId: 'r', atMs: 0, assistantId: 'a', multitaskStrategy: 'enqueue',
        metadataJson: '{}', notBeforeMs: 0, commandId: '', planJson: '{}',
        kwargsJson: 'x'.repeat(length) } })
    const write = (record: RecordOf) =>
      void writer.write({ records: [record], thread: false }, 'soon')
    write(noted)
    expect(writer.position.seq).toBe(5)
    write(run(2_000_000))
    expect(writer.position.seq).toBe(6)
    write(noted)
    write(noted)
    void writer.quiet()
    await settled()
    expect(appends.map(({ row }) => decodeRow(row.body).length)).toEqual([3, 2])
  })

  it('updates the thread row at least every 256 rows', async () => {
    const { appends, write } = openWriter({ epoch: 2, seq: 254 })
    for (let i = 0; i < 3; i++) await write()
    expect(appends.map(({ row: { seq }, updates }) => [seq, updates.length]))
      .toEqual([[255, 0], [256, 1], [257, 0]])
  })

  it('updates the thread row after the rows of runs', async () => {
    const { appends, write } = openWriter()
    const run = (runId: string) => ({ runId, kwargsJson: '', interruptsJson: '' }) as RunRow
    await write({ thread: true, runs: [run('a'), run('b')], removedRunIds: ['b'] })
    expect(appends[0]!.updates.map(({ table }) => table)).toEqual(['run', 'run_removed', 'thread'])
  })

  it('waits 150 ms for more, but not if a record is in a hurry', async () => {
    const { env, writer, appends } = openWriter()
    void writer.write({ records: [noted], thread: false }, 'soon')
    await settled()
    expect([appends.length, env.timers()]).toEqual([0, 1])
    env.advance(149)
    await settled()
    expect(appends).toHaveLength(0)
    env.advance(1)
    await settled()
    void writer.write({ records: [noted], thread: false }, 'soon')
    writer.hurry()
    await settled()
    expect([appends.length, env.timers()]).toEqual([2, 0])
  })
})

describe('what a log writer wrote', () => {
  it('counts as logged once it is in the log, and as written once the tables follow', async () => {
    const { writer, appends, write } = openWriter()
    const { written } = await write()
    const [onDisk, inLog] = [fate(written), fate(writer.logged)]
    appends[0]!.logged()
    await settled()
    expect([onDisk.is, inLog.is]).toEqual(['open', 'resolved'])
    appends[0]!.landed()
    await settled()
    expect(onDisk.is).toBe('resolved')
  })

  it('counts as neither if the append fails, which is reported', async () => {
    const { writer, appends, lost, write } = openWriter()
    const { written } = await write()
    const fates = [fate(written), fate(writer.logged)]
    const reason = new Error('the disk is away')
    appends[0]!.failed(reason)
    await settled()
    expect(fates.map(({ is }) => is)).toEqual(['rejected', 'rejected'])
    expect(lost).toEqual([reason])
  })

  it('is waited for by quiet(), whether it lands or fails', async () => {
    const { writer, appends, write } = openWriter()
    for (let i = 0; i < 2; i++) await write()
    void writer.write({ records: [noted], thread: false }, 'soon')
    const quiet = fate(writer.quiet())
    await settled()
    const [first, second, third] = appends
    third!.landed()
    second!.failed(new Error('the disk is away'))
    await settled()
    expect(quiet.is).toBe('open')
    first!.landed()
    await settled()
    expect(quiet.is).toBe('resolved')
  })
})

/** Rows that are written behind the acknowledgement: when, in which order, and what marks them. */

import { beforeEach, describe, expect, it } from 'vitest'

import type { RunRow, ThreadRow, UnfinishedRun } from '../../../../../proto/gen/storage/v1/row.ts'
import { ThreadRow as ThreadRowCodec } from '../../../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../../../../src/errors.ts'
import { lateRuns } from '../../../../../src/store/cassandra/projection/late-runs.ts'
import { Projections } from '../../../../../src/store/cassandra/projection/projections.ts'
import type { LateRows } from '../../../../../src/store/cassandra/projection/projections.ts'
import { aRun, aThread } from '../../../../contract/rows.ts'
import { virtualEnv } from '../../../../support/env.ts'
import type { VirtualEnv } from '../../../../support/env.ts'

let env: VirtualEnv
let projections: Projections
/** Writes in their order. */
let done: string[]
let failing = false
/** The mark of each thread in Cassandra, and the timestamp of its write. */
let marks: Map<string, { readonly unsettled: boolean; readonly rank: bigint }>
let rank = 0n

function write(what: string): void {
  if (failing) throw new HeddleError('unavailable')
  done.push(what)
}

function setMark(id: string, unsettled: boolean, at: bigint): void {
  const known = marks.get(id)
  if (!known || known.rank <= at) marks.set(id, { unsettled, rank: at })
}

beforeEach(() => {
  env = virtualEnv()
  done = []
  marks = new Map()
  failing = false
  rank = 1n << 70n
  projections = new Projections({
    env,
    connection: { surely: (work) => work() },
    runs: { put: async ({ row }) => write(`run ${row.runId} ${row.status}`) },
    threads: {
      shardOf: () => 0,
      put: async ({ id, body, rank: at, unsettled }) => {
        write(`thread ${id} ${ThreadRowCodec.decode(body).seq}`)
        if (unsettled !== undefined) setMark(id, unsettled, at)
      },
      mark: async ({ id, unsettled, rank: at }) => {
        write(unsettled ? `mark ${id}` : `unmark ${id}`)
        setMark(id, unsettled, at)
      },
    },
  })
})

const isMarked = (id: string) => marks.get(id)?.unsettled === true

/** Lets what was begun go on. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve()
}

async function pass(ms: number): Promise<void> {
  env.advance(ms)
  await turns()
}

interface Change {
  readonly thread: ThreadRow
  readonly run?: RunRow
}

function note(late: LateRows, { thread, run }: Change): void {
  // Timestamps of the store come from one counter; these are above all of them in this test.
  if (run) late.note([{ update: { table: 'run', row: run }, rank: rank++ }])
  late.note([{ update: { table: 'thread', row: thread }, rank: rank++ }])
}

const enter = (threadId: string) =>
  projections.enter({ row: aThread({ threadId }), isNew: false }, 1)

/** An append that notes the change and ends. */
async function append(change: Change): Promise<void> {
  const late = projections.enter({ row: change.thread, isNew: false }, 1)!
  await late.marked
  note(late, change)
  late.leave()
}

const running: UnfinishedRun = { runId: '', createdSeq: 1, updatedAtMs: 1, status: 'running',
  started: true, attempt: 1, baseCheckpointId: '', firstSeq: 1, startedAtMs: 1, notBeforeMs: 0,
  inputCharacters: 0, ownerDeaths: 0, suspect: false }
const threadAt = (seq: number, unfinished: readonly string[] = []) =>
  aThread({ threadId: 't', seq, unfinished: unfinished.map((runId) => ({ ...running, runId })) })
const runIs = (status: string, runId = 'r') => aRun({ threadId: 't', runId, status })

describe('rows that wait', () => {
  it('are merged, and written when the run has ended and the thread was quiet', async () => {
    await append({ thread: threadAt(2, ['r']), run: runIs('running') })
    expect(done).toEqual(['mark t'])
    await pass(4_000)
    await append({ thread: threadAt(3), run: runIs('success') })
    await pass(900)
    expect(done).toEqual(['mark t'])
    expect(isMarked('t')).toBe(true)
    await pass(200)
    expect(done).toEqual(['mark t', 'run r success', 'thread t 3'])
    expect(isMarked('t')).toBe(false)
    expect(projections.stats).toMatchObject({ rows: 0, bytes: 0, oldestMs: 0 })
    expect(env.timers()).toBe(0)
  })

  it('wait five seconds at most, however busy the thread is', async () => {
    await append({ thread: threadAt(2, ['r']), run: runIs('running') })
    for (let seq = 3; seq < 9; seq++) {
      await pass(900)
      await append({ thread: threadAt(seq, ['r']) })
    }
    expect(done).toEqual(['mark t', 'run r running', 'thread t 7', 'mark t'])
  })

  it('keep their mark while an append is in progress', async () => {
    await append({ thread: threadAt(2), run: runIs('success') })
    const late = enter('t')!
    await pass(5_000)
    expect(done).toEqual(['mark t', 'run r success', 'thread t 2'])
    expect(isMarked('t')).toBe(true)
    note(late, { thread: threadAt(3) })
    late.leave()
    await pass(1_000)
    expect(done.slice(3)).toEqual(['thread t 3'])
    expect(isMarked('t')).toBe(false)
  })

  it('lose a mark that was for nothing', async () => {
    enter('t')!.leave()
    await pass(1_000)
    expect(done).toEqual(['mark t', 'unmark t'])
    expect(projections.has('local', 't')).toBe(false)
  })

  it('are tried again after a failure, with what is newer by then', async () => {
    await append({ thread: threadAt(2), run: runIs('success') })
    failing = true
    await pass(1_000)
    await append({ thread: threadAt(3) })
    expect(projections.stats).toMatchObject({ rows: 2, failures: 1, failing: 1, oldestMs: 1_000 })
    await pass(1_000)
    expect(projections.stats).toMatchObject({ failures: 2, failing: 1 })
    failing = false
    await pass(1_000)
    expect(done).toEqual(['mark t', 'run r success', 'thread t 3'])
    expect(projections.stats).toMatchObject({ rows: 0, failing: 0 })
  })

  it('are counted by their bytes, and above a bound nothing more may wait', async () => {
    const run = { ...runIs('pending'), kwargsJson: 'x'.repeat(33 * 1024 * 1024) }
    await append({ thread: threadAt(2, ['r']), run })
    expect(projections.stats.bytes).toBeGreaterThan(33 * 1024 * 1024)
    expect(enter('t')).toBeUndefined()
    await pass(5_000)
    expect(projections.stats.bytes).toBe(0)
    expect(enter('t')).toBeDefined()
  })

  it('belong to a bounded number of threads in a shard', async () => {
    const entered = Array.from({ length: 65 }, (_, i) => enter(`t${i}`))
    expect(entered.filter((late) => late === undefined)).toHaveLength(1)
  })
})

describe('readers', () => {
  const table = (found: string[]) => ({
    get: async () => undefined,
    list: async () => {
      found.push(...done)
      return []
    },
    search: async () => ({ rows: [], next: undefined }),
  })

  it('see runs that are not written, and have them written before a list', async () => {
    const found: string[] = []
    const runs = lateRuns(table(found), projections)
    await append({ thread: threadAt(2), run: runIs('success') })
    expect(await runs.get('local', 't', 'r')).toMatchObject({ status: 'success' })
    await runs.list({ tenant: 'local', threadId: 't', limit: 10, offset: 0 })
    expect(found).toEqual(['mark t', 'run r success'])
    // The row of the thread still waits, and the thread stays marked.
    expect(isMarked('t')).toBe(true)
    await projections.writtenIn(0)
    expect(done).toEqual(['mark t', 'run r success', 'thread t 2'])
    expect(isMarked('t')).toBe(false)
  })

  it('of a tenant wait for the runs of all its threads', async () => {
    await append({ thread: threadAt(2), run: runIs('success') })
    await projections.writtenRunsOf('another')
    expect(done).toEqual(['mark t'])
    await projections.writtenRunsOf('local')
    expect(done).toEqual(['mark t', 'run r success'])
  })

  it('get an error while rows cannot be written', async () => {
    await append({ thread: threadAt(2), run: runIs('success') })
    failing = true
    await expect(projections.writtenRuns('local', 't')).rejects.toMatchObject({
      code: 'unavailable',
    })
  })
})

it('A thread that is removed is forgotten when its runs are written.', async () => {
  await append({ thread: threadAt(2), run: runIs('success') })
  await projections.forget('local', 't')
  await pass(10_000)
  expect(done).toEqual(['mark t', 'run r success'])
  expect(projections.stats).toMatchObject({ rows: 0, bytes: 0 })
})

it('A store that closes writes everything, and lets nothing wait.', async () => {
  await append({ thread: threadAt(2, ['r']), run: runIs('running') })
  await projections.close()
  expect(done).toEqual(['mark t', 'run r running', 'thread t 2'])
  expect(enter('t')).toBeUndefined()
})

describe('a thread whose creation fails', () => {
  const create = (threadId: string) =>
    projections.enter({ row: aThread({ threadId }), isNew: true }, 1)!

  it('frees its place among the marks of the shard, although a second append waits', async () => {
    for (let i = 0; i < 64; i++) {
      const created = create(`t${i}`)
      const second = enter(`t${i}`)!
      created.leave()
      await expect(second.marked).rejects.toMatchObject({ code: 'unavailable' })
      second.leave()
      expect(projections.has('local', `t${i}`)).toBe(false)
    }
    expect(enter('another')).toBeDefined()
    expect(done).toEqual(['mark another'])
  })

  it('keeps the mark that a later append has written', async () => {
    const created = create('t')
    const second = enter('t')!
    created.leave()
    const third = enter('t')!
    await third.marked
    await expect(second.marked).rejects.toMatchObject({ code: 'unavailable' })
    second.leave()
    note(third, { thread: threadAt(2) })
    third.leave()
    await pass(1_000)
    expect(done).toEqual(['mark t', 'thread t 2'])
    expect([isMarked('t'), projections.has('local', 't'), env.timers()]).toEqual([false, false, 0])
  })
})

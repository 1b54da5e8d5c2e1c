/** A keyspace of commit 2988e945 under this version, and a keyspace of this version under it. */

import { join } from 'node:path'

import { afterAll, beforeEach, describe, expect, it } from 'vitest'

import type { Env } from '../../../../../cluster/index.ts'
import { feedbackOf } from '../../../../../src/platform/records/feedback/feedback-row.ts'
import type { SpanPlace, SpanStore } from '../../../../../src/platform/index.ts'
import type { Connection } from '../../../../../src/store/cassandra/driver/connection.ts'
import { CassandraSpans } from '../../../../../src/store/cassandra/platform/cassandra-spans.ts'
import { aPost, requestOf, uuidOf } from '../../../../contract/span-histories.ts'
import { MemoryCassandra } from '../../../../simulation/platform/memory-cassandra.ts'
import { earlierProgram } from '../../../../support/earlier-program.ts'
import { virtualEnv } from '../../../../support/env.ts'
import type { VirtualEnv } from '../../../../support/env.ts'
import { withMethods } from '../../../../support/with-methods.ts'

const before = earlierProgram('2988e945')
if (before === undefined) console.log('The program of before is skipped: no history is here.')
afterAll(() => before?.remove())

type Open = (connection: Connection, env: Env) => SpanStore
/** The store of 2988e945, whose spans have one place and whose files have the id of their span. */
interface EarlierSpans extends Omit<SpanStore, 'files' | 'locate'> {
  files(tenant: string, owner: string, name?: string): ReturnType<SpanStore['files']>
  locate(tenant: string, ids: readonly string[]): Promise<ReadonlyMap<string, SpanPlace>>
}
const earlierModule = before === undefined ? undefined : await import(
  join(before.home, 'src/store/cassandra/platform/cassandra-spans.ts')
) as { readonly CassandraSpans: new(connection: Connection, env: Env) => EarlierSpans }
const today: Open = (connection, env) => new CassandraSpans(connection, env, 'write')
const then: Open = (connection, env) => {
  const store = new earlierModule!.CassandraSpans(connection, env)
  return withMethods(store as unknown as SpanStore, {
    files: ({ tenant: owner, id }, name) => store.files(owner, id, name),
    locate: async (owner, ids) => [...(await store.locate(owner, ids)).values()],
  })
}

const tenant = 'acme'
const [dayS, dayMs] = [86_400, 86_400_000]

let env: VirtualEnv
let open: (program: Open) => SpanStore
beforeEach(() => {
  const own = env = virtualEnv()
  const cassandra = new MemoryCassandra(own.nowMs)
  open = (program) => program(cassandra.connect(), own)
})

function place(index: number, project = 0): SpanPlace {
  const startUs = env.nowMs() * 1_000
  return { tenant, project: uuidOf(1, project), id: uuidOf(4, index), trace: uuidOf(4, index),
    startUs, traceStartUs: startUs }
}

/** Writes spans with a file and with feedback, which live for 14 days. */
async function write(store: SpanStore, places: readonly SpanPlace[]): Promise<void> {
  await store.write({
    ...requestOf(tenant, places.map((each) => aPost(each, { arrivedUs: env.nowMs() * 1_000 }))),
    files: places.map(({ id, trace, project }) => ({ owner: id, ownerTrace: trace, project,
      name: 'f', type: 'text/plain', data: Buffer.from('file') })
    ),
    timeToLiveS: new Map(places.map(({ project }) => [project, 14 * dayS])),
  })
  await store.putFeedback(
    places.map((each) => ({ place: each,
      row: feedbackOf(tenant, { id: each.id, run_id: each.id, key: 'good', score: 1,
        session_id: each.project }, env.nowMs() * 1_000) })
    ),
  )
}

/** Lets time pass in steps in which timers fire, and completes the work that they start. */
async function pass(ms: number, steps: number): Promise<void> {
  for (let step = 0; step < steps; step++) {
    env.advance(ms / steps)
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Completes work that waits for timers. */
async function during<Result>(work: Promise<Result>): Promise<Result> {
  const state = { isOver: false }
  const ended = work.finally(() => {
    state.isOver = true
  })
  ended.catch(() => {})
  while (!state.isOver) await pass(1_000, 1)
  return ended
}

/** The parts of a span that are readable. */
async function partsOf(store: SpanStore, at: SpanPlace) {
  const [heads, places, files, feedback] = await Promise.all([store.heads([at]),
    store.locate(tenant, [at.id]), store.files(at, 'f'),
    store.listFeedback({ tenant, spans: [at.id], limit: 9, offset: 0 })])
  return { heads: heads.length, marks: heads.flatMap(({ feedback: marks }) => marks).length,
    places: places.length, files: files.map(({ data }) => Buffer.from(data).toString()),
    feedback: feedback.length }
}

const whole = { heads: 1, marks: 1, places: 1, files: ['file'], feedback: 1 }
const nothing = { heads: 0, marks: 0, places: 0, files: [], feedback: 0 }

describe.skipIf(before === undefined)('a keyspace of 2988e945 under this version', () => {
  it('has its spans, files and feedback', async () => {
    const one = place(1)
    await write(open(then), [one])
    expect(await partsOf(open(today), one)).toEqual(whole)
  })

  it('has another end of life in its rows after a change of the tier', async () => {
    const [one, other] = [place(1), place(2, 1)]
    await write(open(then), [one, other])
    const now = open(today)
    await now.changeLife(tenant, one.project, 400 * dayS)
    await pass(300_000, 30)
    await pass(20 * dayMs, 40)
    expect(await partsOf(now, one)).toEqual(whole)
    expect(await now.heads([other])).toEqual([])
    await pass(385 * dayMs, 40)
    expect(await partsOf(now, one)).toEqual(nothing)
  })

  it('loses a removed trace, also where the earlier version reads it', async () => {
    const [one, other] = [place(1), place(2)]
    const earlier = open(then)
    await write(earlier, [one, other])
    const now = open(today)
    await during(now.remove(tenant, { kind: 'traces', traces: [one] }))
    for (const store of [now, earlier]) {
      expect(await partsOf(store, one)).toEqual(nothing)
      expect(await partsOf(store, other)).toEqual(whole)
    }
  })
})

describe.skipIf(before === undefined)('a keyspace of this version under 2988e945', () => {
  it('has its spans, files and feedback, also behind a change of the tier', async () => {
    const one = place(1)
    const now = open(today)
    await write(now, [one])
    await now.changeLife(tenant, one.project, 400 * dayS)
    await pass(300_000, 30)
    await now.close()
    const earlier = open(then)
    expect(await partsOf(earlier, one)).toEqual(whole)
    await pass(20 * dayMs, 40)
    expect(await partsOf(earlier, one)).toEqual(whole)
  })

  it('shows the files of a span in two projects in the first project only', async () => {
    const [first, second] = [place(1), place(1, 1)]
    const now = open(today)
    await write(now, [first])
    await write(now, [second])
    const earlier = open(then)
    for (const at of [first, second]) {
      expect((await now.files(at, 'f')).length).toBe(1)
      expect((await earlier.heads([at])).length).toBe(1)
    }
    expect((await earlier.files(first, 'f')).length).toBe(1)
  })

  it('loses a removed trace for good', async () => {
    const one = place(1)
    const earlier = open(then)
    const now = open(today)
    await write(now, [one])
    await during(earlier.remove(tenant, { kind: 'traces', traces: [one] }))
    await write(earlier, [one])
    for (const store of [now, earlier]) expect((await store.heads([one])).length).toBe(0)
  })
})

/** Operations in Cassandra that come while a span of a guessed project is moved. */

import { afterEach, beforeEach, expect, it } from 'vitest'

import { noFields } from '../../../../../src/platform/index.ts'
import type { SpanPlace, SpansOfRequest } from '../../../../../src/platform/index.ts'
import type { Connection, Statement } from '../../../../../src/store/cassandra/driver/connection.ts'
import { CassandraSpans } from '../../../../../src/store/cassandra/platform/cassandra-spans.ts'
import { aPost, noonUs, requestOf, uuidOf } from '../../../../contract/span-histories.ts'
import { MemoryCassandra } from '../../../../simulation/platform/memory-cassandra.ts'
import { virtualEnv } from '../../../../support/env.ts'
import type { VirtualEnv } from '../../../../support/env.ts'

const tenant = 'acme'
let env: VirtualEnv
let cassandra: MemoryCassandra
let second: CassandraSpans
let guess: SpanPlace

beforeEach(() => {
  env = virtualEnv()
  cassandra = new MemoryCassandra(env.nowMs)
  second = new CassandraSpans(cassandra.connect(), env, 'write')
  const startUs = env.nowMs() * 1_000
  guess = { tenant, project: uuidOf(1, 0), id: uuidOf(4, 1), trace: uuidOf(4, 1), startUs,
    traceStartUs: startUs }
})
afterEach(() => second.close())

/** A store with `before` each batch, and each read of pages. */
function storeWith(before: (statements: readonly Statement[]) => Promise<void>): CassandraSpans {
  const connection = cassandra.connect()
  const batch = (write: Connection['batch']) => async (statements: readonly Statement[]) => {
    await before(statements)
    await write(statements)
  }
  return new CassandraSpans(
    { ...connection, batch: batch(connection.batch),
      repeatableBatch: batch(connection.repeatableBatch),
      pages: async function*(statement: Statement, fetchSize: number) {
        await before([statement])
        yield* connection.pages(statement, fetchSize)
      } as Connection['pages'] } as Connection,
    env,
    'write',
  )
}

/** Does work before the first batch with some text. */
function once(text: RegExp, work: () => Promise<unknown>) {
  let isDone = false
  return async ([first]: readonly Statement[]) => {
    if (isDone || !text.test(first!.cql)) return
    isDone = true
    await work()
  }
}

function patchOf(name: 'name' | 'type', block: bigint): SpansOfRequest {
  const fields = { ...noFields, [name]: 'n', endUs: guess.startUs + Number(block) }
  const patch = { ...aPost(guess, { block }), fields, kind: 'patch', isGuess: true } as const
  const { id: owner, trace: ownerTrace, project } = guess
  return { ...requestOf(tenant, [patch]),
    files: [{ project, owner, ownerTrace, name, type: 't', data: Buffer.from(name) }] }
}

/** The heads of a trace, as far as they tell where they are. */
async function headsIn(at: SpanPlace) {
  const found: unknown[] = []
  for await (const heads of second.trace(at)) {
    found.push(
      ...heads.map(({ trace, name, type, blocks, isGuess }) => ({ trace, name, type,
        blocks: blocks.toSorted(), isGuess })
      ),
    )
  }
  return found
}

const places = {
  'another project': { project: uuidOf(1, 1) },
  'another trace': { trace: uuidOf(4, 2) },
  'another start': { trace: uuidOf(4, 2), startUs: noonUs },
} as const
/** Where the writer of a second patch waits until a move has ended. */
const waits = {
  'before its operation': /^UPDATE memory.span_head .*ops/,
  'after its operation': /^SELECT span_id, id FROM memory.feedback_waiting/,
}
const races = Object.entries(places).flatMap(([to, change]) =>
  Object.entries(waits).map(([when, text]) => ({ to, change, when, text }))
)

it.each(races)('moves a patch to $to whose writer waits $when', async ({ change, text }) => {
  const place = { ...guess, ...change }
  await second.write(patchOf('name', 7n))
  const [waiting, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const slow = storeWith(once(text, async () => {
    waiting.resolve()
    await over.promise
  }))
  let late: Promise<unknown> | undefined
  const store = storeWith(once(/^DELETE .*FROM memory.span_head/, async () => {
    late = slow.write(patchOf('type', 8n))
    await waiting.promise
  }))
  await store.write(requestOf(tenant, [aPost(place)]))
  over.resolve()
  await late
  expect(await headsIn(place)).toEqual([{ trace: place.trace, name: 'n', type: 'n',
    blocks: [7n, 8n], isGuess: undefined }])
  expect((await second.blocks(place, [7n, 8n])).size).toBe(2)
  expect((await second.files(place)).map(({ name }) => name)).toEqual(['name', 'type'])
  expect(await second.locate(tenant, [place.id])).toEqual([place])
  expect(await second.heads([guess])).toEqual(place.startUs === guess.startUs &&
      place.project === guess.project
    ? [expect.objectContaining(place)]
    : [])
  if (place.trace !== guess.trace) {
    expect(await headsIn(guess)).toEqual([])
    expect((await second.blocks(guess, [7n, 8n])).size).toBe(0)
  }
  await Promise.all([store.close(), slow.close()])
})

it('moves a patch to the trace of its post, whatever the order of their hashes', async () => {
  for (let number = 1; number <= 16; number++) {
    guess = { ...guess, id: uuidOf(4, number), trace: uuidOf(4, number) }
    const place = { ...guess, trace: uuidOf(5, number) }
    await second.write(requestOf(tenant, [aPost(place)]))
    expect(await second.write(patchOf('name', 7n))).toMatchObject({ moved: [place] })
    expect([await headsIn(guess), await headsIn(place)]).toMatchObject([[], [{ trace: place.trace,
      blocks: [7n] }]])
    expect([(await second.blocks(guess, [7n])).size, (await second.blocks(place, [7n])).size])
      .toEqual([0, 1])
  }
})

it('moves a patch to the same trace with another start', async () => {
  const place = { ...guess, traceStartUs: guess.traceStartUs + 7_200e6 }
  await second.write(patchOf('name', 7n))
  await second.write(requestOf(tenant, [aPost(place)]))
  expect([(await second.blocks(guess, [7n])).size, (await second.blocks(place, [7n])).size])
    .toEqual([0, 1])
  expect(await headsIn(guess)).toEqual([])
})

it('moves patches of two traces with one start', async () => {
  const place = { ...guess, ...places['another project'], trace: uuidOf(4, 3) }
  await second.write(patchOf('name', 7n))
  const other = { ...guess, trace: uuidOf(4, 9) }
  const { spans: [patch], ...request } = patchOf('type', 8n)
  await second.write({ ...request, spans: [{ ...patch!, place: other }],
    blocks: request.blocks.map((block) => ({ ...block, trace: other.trace })) })
  await second.write(requestOf(tenant, [aPost(place)]))
  expect(await headsIn(place)).toMatchObject([{ name: 'n', type: 'n', blocks: [7n, 8n] }])
  expect((await second.blocks(place, [7n, 8n])).size).toBe(2)
  expect([(await second.blocks(guess, [7n])).size, (await second.blocks(other, [8n])).size])
    .toEqual([0, 0])
  expect(await second.heads([guess])).toEqual([])
})

it('moves a patch whose row comes after feedback and the post', async () => {
  const place = { ...guess, ...places['another project'] }
  const store = storeWith(once(/^UPDATE memory.span_head .*ops/, async () => {
    const row = { tenant, id: uuidOf(6, 1), span: guess.id, trace: null, project: null, key: 'good',
      score: 1, value: null, createdUs: 1, modifiedUs: 1, bodyJson: '{}' }
    await second.putFeedback([{ row, place: guess }])
    await second.write(requestOf(tenant, [aPost(place)]))
  }))
  await store.write(patchOf('name', 7n))
  expect(await second.heads([guess])).toEqual([])
  expect(await second.heads([place])).toMatchObject([{ endUs: guess.startUs + 7,
    feedback: [{ key: 'good' }] }])
  await store.close()
})

it('does not move a span to a place whose head is gone when it is to be read', async () => {
  const place = { ...guess, ...places['another project'] }
  await second.write(requestOf(tenant, [aPost(place)]))
  const connection = cassandra.connect()
  const store = new CassandraSpans(
    { ...connection,
      read: async (statement) =>
        statement.cql.includes('TTL(ops)') ? [] : await connection.read(statement) } as Connection,
    env,
    'write',
  )
  expect(await store.write({ ...patchOf('name', 7n) })).toEqual({ removed: [], moved: [] })
  expect(await second.heads([guess])).toMatchObject([{ isGuess: true }])
  // The next patch moves it.
  expect(await second.write(patchOf('type', 8n))).toMatchObject({ moved: [place] })
  await store.close()
})

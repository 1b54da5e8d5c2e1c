/** Marks of feedback in Cassandra on a span of one project, with feedback of another project. */

import { afterEach, beforeEach, expect, it } from 'vitest'

import { noFields } from '../../../../../src/platform/index.ts'
import type { Feedback, Removal, SpanPlace } from '../../../../../src/platform/index.ts'
import type { Connection } from '../../../../../src/store/cassandra/driver/connection.ts'
import { CassandraSpans } from '../../../../../src/store/cassandra/platform/cassandra-spans.ts'
import { aPost, placeOf, requestOf, uuidOf } from '../../../../contract/span-histories.ts'
import { MemoryCassandra } from '../../../../simulation/platform/memory-cassandra.ts'
import { virtualEnv } from '../../../../support/env.ts'
import type { VirtualEnv } from '../../../../support/env.ts'
import { during } from './during.ts'

const tenant = 'acme'
const place = placeOf(tenant, { trace: 1, span: 0, project: 0 })
/** The same span in an experiment. */
const elsewhere: SpanPlace = { ...place, project: uuidOf(1, 1) }
const { id: span, trace } = place
const row: Feedback = { tenant, id: uuidOf(5, 1), span, trace, project: elsewhere.project,
  key: 'good', score: 1, value: null, createdUs: 1, modifiedUs: 1, bodyJson: '{}' }

const removals: Readonly<Record<'project' | 'trace', Removal>> = {
  project: { kind: 'project', project: elsewhere.project },
  trace: { kind: 'traces', traces: [elsewhere] },
}
const kinds = ['project', 'trace'] as const

let env: VirtualEnv
let cassandra: MemoryCassandra
let other: CassandraSpans

beforeEach(() => {
  env = virtualEnv()
  cassandra = new MemoryCassandra(env.nowMs)
  other = new CassandraSpans(cassandra.connect(), env, 'write')
})
afterEach(() => other.close())

/** A store in which another member does its work right after the first write of some cells. */
function storeWith(cells: string, work: () => Promise<void>): CassandraSpans {
  const connection = cassandra.connect()
  let isDone = false
  return new CassandraSpans({ ...connection, repeatableBatch: async (statements) => {
    await connection.repeatableBatch(statements)
    if (isDone || !statements[0]!.cql.includes(cells)) return
    isDone = true
    await during(env, work())
  } } as Connection, env, 'write')
}

const marksAt = async (at: SpanPlace) =>
  (await other.heads([at])).map(({ feedback }) => feedback.map(({ id }) => id))

it.each(kinds)('keeps a span whose feedback is written while its %s elsewhere is removed',
  async (kind) => {
    await other.write(requestOf(tenant, [aPost(place), aPost(elsewhere)]))
    const writer = storeWith('.feedback ', () => other.remove(tenant, removals[kind]))
    expect(await writer.putFeedback([{ row, place }])).toEqual([row.id])
    expect(await marksAt(place)).toEqual([[]])
    expect(await other.getFeedback(tenant, row.id)).toBeUndefined()
    await writer.close()
  })

it.each(kinds)('keeps a span whose feedback is replaced while its %s elsewhere is removed',
  async (kind) => {
    await other.write(requestOf(tenant, [aPost(place), aPost(elsewhere)]))
    await other.putFeedback([{ row, place }])
    const writer = storeWith('SET feedback[', () => other.remove(tenant, removals[kind]))
    const changed = { ...row, score: 0, modifiedUs: 2 }
    expect(await writer.replaceFeedback(row, { row: changed, place })).toBe('removed')
    expect(await marksAt(place)).toEqual([[]])
    expect(await other.getFeedback(tenant, row.id)).toBeUndefined()
    await writer.close()
  })

it('leaves no mark of feedback that waited for its span and was removed with another one',
  async () => {
    const waiting = { row: { ...row, project: null, trace: null }, place: null }
    // Another member writes the span, and removes it from a second project.
    const writer = storeWith('.feedback ', async () => {
      await other.write(requestOf(tenant, [aPost(place), aPost(elsewhere)]))
      await other.remove(tenant, removals.trace)
    })
    expect(await writer.putFeedback([waiting])).toEqual([row.id])
    expect(await marksAt(place)).toEqual([[]])
    expect(await other.getFeedback(tenant, row.id)).toBeUndefined()
    await writer.close()
  })

it('does not write feedback again that waits for the span of its project', async () => {
  await other.write(requestOf(tenant, [aPost(place)]))
  await other.putFeedback([{ row, place }])
  const connection = cassandra.connect()
  let writes = 0
  const writer = new CassandraSpans({ ...connection, repeatableBatch: async (statements) => {
    if (/UPDATE memory.feedback .*SET body/.test(statements[0]!.cql)) {
      writes += 1
      await other.deleteFeedback(tenant, row.id)
    }
    await connection.repeatableBatch(statements)
  } } as Connection, env, 'write')
  const patch = (name: string) =>
    writer.write(
      requestOf(tenant, [{ ...aPost(place), kind: 'patch', fields: { ...noFields, name } }]),
    )
  await patch('first')
  await patch('second')
  expect([writes, await marksAt(place)]).toEqual([0, [[row.id]]])
  await other.deleteFeedback(tenant, row.id)
  await patch('third')
  expect(await other.getFeedback(tenant, row.id)).toBeUndefined()
  expect(await marksAt(place)).toEqual([[]])
  await writer.close()
})

it('leaves no mark in another project of feedback that is removed with its span', async () => {
  await other.putFeedback([{ row: { ...row, project: null, trace: null }, place: null }])
  await other.write(requestOf(tenant, [aPost(place), aPost(elsewhere)]))
  expect([await marksAt(place), await marksAt(elsewhere)]).toEqual([[[row.id]], [[row.id]]])
  await during(env, other.remove(tenant, removals.trace))
  expect(await other.getFeedback(tenant, row.id)).toBeUndefined()
  expect(await marksAt(place)).toEqual([[]])
})

it('takes the marks of a removed project from the spans of other projects', async () => {
  await other.write(requestOf(tenant, [aPost(place)]))
  const kept = { ...row, id: uuidOf(5, 2), project: place.project }
  await other.putFeedback([{ row, place }, { row: kept, place }])
  const hour = Math.floor(place.startUs / 3_600e6)
  env.advance(place.startUs / 1_000 + 7_200_000 - env.nowMs())
  await other.putRollUp(tenant, place.project, hour, Buffer.from('with both'), env.nowMs() * 1_000)
  expect((await other.rollUps(tenant, place.project, hour, hour + 1)).size).toBe(1)
  await during(env, other.remove(tenant, removals.project))
  expect(await marksAt(place)).toEqual([[kept.id]])
  expect((await other.rollUps(tenant, place.project, hour, hour + 1)).size).toBe(0)
})

/** Removal of the tokens of feedback from Cassandra. */

import { hash } from 'node:crypto'

import { expect, it } from 'vitest'

import type { FeedbackToken } from '../../../../../src/platform/index.ts'
import type { Connection, Statement } from '../../../../../src/store/cassandra/driver/connection.ts'
import { CassandraSpans } from '../../../../../src/store/cassandra/platform/cassandra-spans.ts'
import { aPost, placeOf, requestOf, uuidOf } from '../../../../contract/span-histories.ts'
import { MemoryCassandra } from '../../../../simulation/platform/memory-cassandra.ts'
import { virtualEnv } from '../../../../support/env.ts'
import { during } from './during.ts'

const tenant = 'acme'
const place = placeOf(tenant, { trace: 1, span: 0, project: 0 })
const elsewhere = { ...place, project: uuidOf(1, 1) }
const dayMs = 86_400_000

/** A store over a connection that counts the bytes of reads and may have a clock ahead. */
function openStore() {
  const env = virtualEnv()
  const cassandra = new MemoryCassandra(env.nowMs)
  const connection = cassandra.connect()
  const reads = { count: 0, bytesMax: 0 }
  let aheadMs = 0
  const stamped = (statement: Statement): Statement => ({
    cql: statement.cql.replace('USING TTL ?', 'USING TTL ? AND TIMESTAMP ?'),
    values: [...statement.values].toSpliced(1, 0, BigInt((env.nowMs() + aheadMs) * 1_000)),
  })
  const store = new CassandraSpans({ ...connection, read: async (statement) => {
    const rows = await connection.read(statement)
    reads.count += 1
    if (reads.count > 5_000) throw new Error('The store reads without an end.')
    const bytes = rows.reduce((sum, { body }) => sum + (body?.byteLength ?? 0), 0)
    reads.bytesMax = Math.max(reads.bytesMax, bytes)
    return rows
  }, repeatableBatch: (statements) =>
    connection.repeatableBatch(
      aheadMs > 0 && statements[0]!.cql.startsWith('UPDATE')
        ? statements.map(stamped)
        : statements,
    ) } as Connection, env, 'write')
  const aToken = (number: number): FeedbackToken => ({ id: uuidOf(6, number), tenant,
    hash: `00${hash('sha256', String(number)).slice(2)}`, span: place.id, key: 'good',
    expiresMs: env.nowMs() + dayMs, configJson: JSON.stringify('c'.repeat(2_000)) })
  const putTokens = async (count: number) => {
    const tokens = Array.from({ length: count }, (_, number) => aToken(number))
    for (const token of tokens) await store.putFeedbackToken(token)
    return tokens
  }
  return { env, cassandra, store, reads, putTokens, setAhead: (ms: number) => {
    aheadMs = ms
  } }
}

it('removes all tokens of a span without reading their bodies', async () => {
  const { env, cassandra, store, reads, putTokens } = openStore()
  await putTokens(1_010)
  await store.write(requestOf(tenant, [aPost(place)]))
  await during(env, store.remove(tenant, { kind: 'traces', traces: [place] }))
  expect(cassandra.count('feedback_token', 'body')).toBe(0)
  expect(reads.bytesMax).toBe(0)
  await store.close()
})

it('removes the tokens of a tenant in small pages', async () => {
  const { cassandra, store, reads, putTokens } = openStore()
  await putTokens(60)
  expect(await store.deleteFeedbackTokens(tenant)).toBe(60)
  expect(cassandra.count('feedback_token', 'body')).toBe(0)
  // Their list has no configuration.
  expect(reads.bytesMax).toBeLessThan(20 * 200)
  await store.close()
})

it('removes tokens that another member wrote with a clock that is ahead', async () => {
  const { env, cassandra, store, putTokens, setAhead } = openStore()
  setAhead(60_000)
  const [token] = await putTokens(40)
  setAhead(0)
  expect(await store.deleteFeedbackTokens(tenant)).toBe(40)
  expect(await store.getFeedbackToken(token!.hash, env.nowMs())).toBeUndefined()
  expect(cassandra.count('feedback_token', 'body')).toBe(0)
  setAhead(60_000)
  await putTokens(1)
  setAhead(0)
  await store.write(requestOf(tenant, [aPost(place)]))
  await during(env, store.remove(tenant, { kind: 'traces', traces: [place] }))
  expect(cassandra.count('feedback_token', 'body')).toBe(0)
  await store.close()
})

it('removes the tokens of a span whose removal from another project was cut off', async () => {
  const { env, cassandra, store, putTokens } = openStore()
  await putTokens(1)
  await store.write(requestOf(tenant, [aPost(place), aPost(elsewhere)]))
  const connection = cassandra.connect()
  const failing = new CassandraSpans(
    { ...connection, repeatableBatch: (statements) =>
      statements[0]!.cql.startsWith('DELETE')
        ? Promise.reject(new Error('out of reach'))
        : connection.repeatableBatch(statements) } as Connection,
    env,
    'write',
  )
  const removal = failing.remove(tenant, { kind: 'traces', traces: [elsewhere] })
  await expect(during(env, removal)).rejects.toThrow('out of reach')
  expect(cassandra.count('span_location', 'trace_id')).toBe(2)
  await during(env, store.remove(tenant, { kind: 'traces', traces: [place] }))
  expect(cassandra.count('feedback_token', 'body')).toBe(0)
  await store.close()
  await failing.close()
})

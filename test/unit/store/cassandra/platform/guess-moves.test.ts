/** Spans in Cassandra that a named project took over from a guessed one. */

import { expect, it } from 'vitest'

import type { SpanPlace } from '../../../../../src/platform/index.ts'
import { CassandraSpans } from '../../../../../src/store/cassandra/platform/cassandra-spans.ts'
import { aPost, requestOf, uuidOf } from '../../../../contract/span-histories.ts'
import { MemoryCassandra } from '../../../../simulation/platform/memory-cassandra.ts'
import { virtualEnv } from '../../../../support/env.ts'

it('returns a moved span with each write until its end is noted', async () => {
  const env = virtualEnv()
  const store = new CassandraSpans(new MemoryCassandra(env.nowMs).connect(), env, 'write')
  const startUs = env.nowMs() * 1_000
  const guess: SpanPlace = { tenant: 'acme', project: uuidOf(1, 0), id: uuidOf(4, 1),
    trace: uuidOf(4, 1), startUs, traceStartUs: startUs }
  const place = { ...guess, project: uuidOf(1, 1) }
  const write = async (at: SpanPlace, isGuess: boolean) => {
    const post = { ...aPost(at, { arrivedUs: startUs }), isGuess }
    return (await store.write(requestOf(at.tenant, [post]))).moved.map(({ project }) => project)
  }
  expect(await write(guess, true)).toEqual([])
  expect(await write(place, false)).toEqual([place.project])
  expect(await write(place, false)).toEqual([place.project])
  await store.confirmMoves(place.tenant, [place])
  expect(await write(place, false)).toEqual([])
  await store.close()
})

it('moves a span to another trace of the same project, also with the same start', async () => {
  const env = virtualEnv()
  const store = new CassandraSpans(new MemoryCassandra(env.nowMs).connect(), env, 'write')
  const startUs = env.nowMs() * 1_000
  const guess: SpanPlace = { tenant: 'acme', project: uuidOf(1, 0), id: uuidOf(4, 1),
    trace: uuidOf(4, 1), startUs, traceStartUs: startUs }
  const place = { ...guess, trace: uuidOf(4, 2) }
  const { trace, traceStartUs } = guess
  await store.write({
    ...requestOf('acme', [{ ...aPost(guess, { arrivedUs: startUs, block: 7n }), isGuess: true }]),
    blocks: [{ id: 7n, trace, traceStartUs, data: Buffer.from('block') }],
  })
  await store.write(requestOf('acme', [aPost(place, { arrivedUs: startUs + 1 })]))
  const idsIn = async (at: SpanPlace) => {
    const found: string[] = []
    for await (const heads of store.trace(at)) {
      found.push(...heads.map((head) => `${head.trace} ${head.blocks.join()}`))
    }
    return found
  }
  expect([await idsIn(place), await idsIn(guess)]).toEqual([[`${place.trace} 7`], []])
  expect([(await store.blocks(place, [7n])).size, (await store.blocks(guess, [7n])).size])
    .toEqual([1, 0])
  await store.close()
})

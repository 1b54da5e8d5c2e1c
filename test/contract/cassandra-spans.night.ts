/** Spans on three nodes of Cassandra while one of them dies: no request fails, nothing is lost. */

import { v7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { startCassandra } from '../../scripts/cassandra/cluster.ts'
import type { Cassandra } from '../../scripts/cassandra/cluster.ts'
import { whatIsMissing } from '../../scripts/cassandra/library.ts'
import { HeddleError } from '../../src/errors.ts'
import { noFields, termOf } from '../../src/platform/index.ts'
import type { SpanPlace, SpansOfRequest, SpanStore } from '../../src/platform/index.ts'
import { cassandraSpanPlace } from './cassandra-span-place.ts'
import type { CassandraSpanPlace } from './cassandra-span-place.ts'

const writers = 4
const spansOfRequest = 49
/** Requests of each writer before and after the death, at least. */
const requestsOfPart = 30

const tenant = 'acme'
const project = v7()

describe.skipIf(await whatIsMissing() !== undefined)('spans on three nodes', () => {
  let cassandra: Cassandra
  let place: CassandraSpanPlace
  let store: SpanStore

  beforeAll(async () => {
    cassandra = await startCassandra({ nodes: 3, firstAddress: '127.0.0.95', light: true,
      fleeting: true })
    place = await cassandraSpanPlace(cassandra)
    store = await place.open('write')
  }, 240_000)
  afterAll(async () => {
    await store?.close()
    await cassandra?.close()
  }, 120_000)

  it('are all written and found when a node is killed between them', async () => {
    const written: SpanPlace[] = []
    let longestMs = 0
    const write = async () => {
      const request = aRequest()
      const beganMs = performance.now()
      await store.write(request)
      longestMs = Math.max(longestMs, performance.now() - beganMs)
      written.push(...request.spans.map((span) => span.place))
    }
    const killed = Promise.withResolvers<void>()
    const death = new AbortController()
    const writer = async () => {
      for (let count = 0; count < requestsOfPart; count++) await write()
      killed.resolve()
      while (!death.signal.aborted) await write()
      for (let count = 0; count < requestsOfPart; count++) await write()
    }
    const all = Array.from({ length: writers }, writer)
    await killed.promise
    await cassandra.nodes[2]!.kill('SIGKILL')
    death.abort()
    await Promise.all(all)
    console.log(`${written.length} spans, the longest request took ${longestMs.toFixed(0)} ms.`)

    const reader = await place.open('read')
    // Reads may be refused until the death of the node is noticed: who asks is to ask again.
    await expect.poll(async () => (await reader.heads(written.slice(0, 1))).length).toBe(1)
    const heads = await readAgain(() => reader.heads(written))
    expect(new Set(heads.map(({ id }) => id))).toEqual(new Set(written.map(({ id }) => id)))
    const ids = written.map(({ id }) => id)
    const places = await readAgain(() => reader.locate(tenant, ids))
    expect(places.length).toBe(written.length)
    const found = await readAgain(async () => {
      const roots = new Set<string>()
      for await (const { heads } of reader.scan({ tenant, projects: [project], fromUs: 0,
        toUs: Number.MAX_SAFE_INTEGER, order: 'newest', rootsOnly: true,
        terms: [termOf.tag('roots')], ranges: [], type: null, name: null })) {
        for (const head of heads) if (head.root === true) roots.add(head.id)
      }
      return roots
    })
    expect(found.size).toBe(written.length / spansOfRequest)
    for (const root of written.filter(({ id, trace }) => id === trace).slice(0, 20)) {
      const spans = await readAgain(async () => {
        let read = 0
        for await (const slice of reader.trace(root)) read += slice.length
        return read
      })
      expect(spans).toBe(spansOfRequest)
      const blocks = await readAgain(() => reader.blocks(root, [1n]))
      expect(blocks.get(1n)?.byteLength).toBe(5_000)
    }
  })
})

/** Asks again while the answer is that Cassandra is out of reach, for a minute at most. */
async function readAgain<Answer>(read: () => Promise<Answer>): Promise<Answer> {
  for (const beganMs = performance.now();;) {
    try {
      return await read()
    } catch (error) {
      if (HeddleError.from(error).code !== 'unavailable') throw error
      if (performance.now() - beganMs > 60_000) throw error
    }
  }
}

/** A trace of some spans, with its block. */
function aRequest(): SpansOfRequest {
  const traceStartUs = Date.now() * 1_000
  const trace = v7()
  const spans = Array.from({ length: spansOfRequest }, (_, index) => ({
    place: { tenant, project, startUs: traceStartUs + index, id: index === 0 ? trace : v7(), trace,
      traceStartUs },
    kind: 'post' as const,
    arrivedUs: traceStartUs,
    fields: { ...noFields, root: index === 0, name: `step ${index}` },
    terms: index === 0 ? [termOf.tag('roots')] : [termOf.name(`step ${index}`)],
    indexed: 1,
    block: 1n,
  }))
  return { tenant, spans, files: [], timeToLiveS: new Map([[project, 14 * 86_400]]),
    blocks: [{ id: 1n, trace, traceStartUs, data: Buffer.alloc(5_000, 1) }] }
}

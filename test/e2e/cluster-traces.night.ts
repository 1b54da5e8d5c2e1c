/** Traces over two processes: a forwarded request makes one trace, with spans of both. */

import { randomBytes, randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'

import { untilWhole } from '../bench/ownership-view.ts'
import { dropKeyspace, newKeyspace } from '../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../support/cassandra.ts'
import { startCluster } from '../support/cluster.ts'
import { startOtlpReceiver } from '../support/otlp-receiver.ts'
import { say } from '../support/run-events.ts'
import { ask } from '../support/wire.ts'

const cassandra = await cassandraForTests()
const requests = 24
const route = 'POST /threads/:thread_id/runs/wait'

describe.skipIf(!cassandra)('a cluster of two', () => {
  it('has spans of both in the trace of a request that one forwards to the other', async () => {
    const place = newKeyspace(cassandra!)
    const collector = await startOtlpReceiver()
    const cluster = await startCluster({ members: 2, cassandra: place, project: 'conformance',
      env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } })
    try {
      // A request for a shard that moves meanwhile would be sent twice.
      await untilWhole(cluster, 0)
      const [parentId, traceIds] = ['cd'.repeat(8), new Set<string>()]
      for (let number = 0; number < requests; number++) {
        const traceId = randomBytes(16).toString('hex')
        const { status } = await ask(cluster.frontDoors[number % 2]!, 'POST',
          `/threads/${randomUUID()}/runs/wait`, { assistant_id: 'echo', input: say('hello'),
          if_not_exists: 'create' }, { traceparent: `00-${traceId}-${parentId}-01` })
        expect(status).toBe(200)
        traceIds.add(traceId)
      }
      const named = (name: string) =>
        collector.spans.filter((span) => span.name === name && traceIds.has(span.traceId))
      for (const name of [route, 'ask thread start', 'run echo']) {
        await expect.poll(() => named(name).length).toBe(requests)
      }
      const requestOf = (traceId: string) => named(route).find((span) => span.traceId === traceId)!
      const broughtOn = named('run echo')
        .filter(({ traceId, instance }) => requestOf(traceId).instance !== instance)
      expect(broughtOn.length).toBeGreaterThan(0)
      const received = () => named('hear thread start')
      await expect.poll(() => received().map(({ traceId }) => traceId).toSorted())
        .toEqual(broughtOn.map(({ traceId }) => traceId).toSorted())
      for (const { traceId, instance, parentId: heardFrom } of received()) {
        const request = requestOf(traceId)
        const [asked, run] = ['ask thread start', 'run echo'].map((name) =>
          named(name).find((span) => span.traceId === traceId)!
        )
        expect(request.instance).not.toBe(instance)
        expect(request).toMatchObject({ parentId, kind: 2 })
        expect(asked).toMatchObject({ instance: request.instance, parentId: request.spanId })
        expect(heardFrom).toBe(asked!.spanId)
        expect(run).toMatchObject({ instance, parentId: request.spanId })
      }
      expect(new Set(collector.spans.map(({ instance }) => instance)).size).toBe(2)
    } finally {
      await cluster.close()
      await collector.close()
      await dropKeyspace(place)
    }
  })
})

/** One trace across two members: the front door in one, the thread and its run in the other. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { ActivationTable, createRouter, fanOut, placedOwnership,
  systemEnv } from '../../../cluster/index.ts'
import { grpcTransport } from '../../../cluster/transport/grpc/grpc-transport.ts'
import { openGrpcServer } from '../../../cluster/transport/grpc/server.ts'
import { HeddleError } from '../../../src/errors.ts'
import { ReadQuota } from '../../../src/limits/read-quota.ts'
import { startTracing } from '../../../src/server/tracing.ts'
import type { OpenTracing } from '../../../src/server/tracing.ts'
import { threadWire } from '../../../src/thread/feed/feed-wire.ts'
import { createThreadClient } from '../../../src/thread/index.ts'
import type { ThreadClient } from '../../../src/thread/index.ts'
import { startOtlpReceiver } from '../../support/otlp-receiver.ts'
import type { OtlpReceiver } from '../../support/otlp-receiver.ts'
import { ThreadHouse } from '../../support/thread-house.ts'
import { dial, hear } from '../../support/wire.ts'
import { call, openDoor } from '../frontdoor/open-front-door.ts'
import type { OpenDoor } from '../frontdoor/open-front-door.ts'

const env = systemEnv({ level: 'silent' })
const common = {
  env,
  trust: { secret: 'the-secret-of-this-cluster' },
  identity: { cluster: 'test', version: 1 },
  kinds: [{ name: 'thread', wire: threadWire }],
  reviveError: HeddleError.revive,
}
const ends: (() => unknown)[] = []

let collector: OtlpReceiver
let tracing: OpenTracing
let house: ThreadHouse
let threads: ThreadClient

beforeAll(async () => {
  collector = await startOtlpReceiver()
  process.env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] = `${collector.url}/v1/traces`
  tracing = startTracing({ ratio: 1, version: '0', instance: 'i', env })
  house = new ThreadHouse({}, tracing)
  const server = await openGrpcServer({ ...common, id: 'm', host: '127.0.0.1' })
  server.serve(house.inbound)
  const { close, ...transport } = grpcTransport(common)
  const self = { id: 'near', address: 'here' }
  const view = { self, members: [{ id: 'm', address: server.address }] }
  const router = createRouter({
    env,
    tracing,
    transport: fanOut(transport, common.kinds),
    ownership: placedOwnership({ view, shards: 1, epoch: 1 }),
    activations: new ActivationTable({ env, kinds: [] }),
  })
  threads = createThreadClient({
    router,
    threads: house.tables.threads,
    newThreadId: () => env.uuid(),
    env,
    reads: new ReadQuota(env),
  })
  ends.push(() => collector.close(), () => server.close(AbortSignal.abort()), close)
})

afterAll(async () => {
  delete process.env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']
  for (const end of ends.splice(0).toReversed()) await end()
})

/** Sends the body after the server has read the head, so that both are read in separate events. */
async function startedInTwoParts(door: OpenDoor, threadId: string,
  traceparent: string): Promise<string> {
  const socket = await dial(door.url)
  const body = JSON.stringify({ assistant_id: 'agent', if_not_exists: 'create' })
  socket.write(`POST /threads/${threadId}/runs HTTP/1.1\r\nhost: localhost\r\n` +
    `traceparent: ${traceparent}\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n`)
  await expect.poll(() => door.stats().requests).toBe(1)
  const answer = hear(socket)
  socket.write(body)
  const [, runId] = /"run_id":"([^"]+)"/.exec(await answer)!
  return runId!
}

describe('a trace', () => {
  it('goes through the front door of one member to the run in another', async () => {
    const door = await openDoor({ threads, tracing })
    const [traceId, spanId, threadId] = ['ab'.repeat(16), 'cd'.repeat(8), randomUUID()]
    const runId = await startedInTwoParts(door, threadId, `00-${traceId}-${spanId}-01`)
    house.host.end(house.host.only)
    await expect.poll(() =>
      call(door, 'GET', `/threads/${threadId}/runs/${runId}`)
        .then((answer) => answer.json['status'])
    ).toBe('success')
    await tracing.close()
    const ofTrace = collector.spans.filter((span) => span.traceId === traceId)
    const of = (name: string) => ofTrace.find((span) => span.name === name)!
    const [request, asked, received, run] = [of('POST /threads/:thread_id/runs'),
      of('ask thread start'), of('hear thread start'), of('run agent')]
    expect(request.parentId).toBe(spanId)
    expect(asked.parentId).toBe(request.spanId)
    expect(received).toMatchObject({ parentId: asked.spanId, kind: 2 })
    expect(run).toMatchObject({ parentId: request.spanId,
      details: { 'heddle.run_id': runId, 'heddle.outcome': 'success' } })
  })
})

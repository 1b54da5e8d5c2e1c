/** Traces as a collector receives them: one trace per request, from its arrival to the run. */

import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { startOtlpReceiver } from '../support/otlp-receiver.ts'
import type { OtlpReceiver, ReceivedSpan } from '../support/otlp-receiver.ts'
import { say } from '../support/run-events.ts'
import { startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { ask } from '../support/wire.ts'

let collector: OtlpReceiver
let server: ServerProcess

beforeAll(async () => {
  collector = await startOtlpReceiver()
  server = await startServer({ project: 'conformance', env: {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  } })
})
afterAll(async () => {
  await server.close()
  await collector.close()
})

const parent = { traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8) }
const traceparent = `00-${parent.traceId}-${parent.spanId}-01`

async function spanOf(find: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> {
  await expect.poll(() => collector.spans.find(find)).toBeDefined()
  return collector.spans.find(find)!
}

describe('a request that is part of a trace', () => {
  it('continues it through the actor to the run', async () => {
    const threadId = randomUUID()
    const answer = await ask(server.url, 'POST', `/threads/${threadId}/runs/wait?secret=hunter2`, {
      assistant_id: 'echo',
      input: say('hello'),
      if_not_exists: 'create',
    }, { traceparent, 'x-api-key': 'hunter2' })
    expect(answer.status).toBe(200)
    const ofThis = (name: string) =>
      spanOf((span) => span.name === name && span.traceId === parent.traceId)
    const [request, asked, run] = [await ofThis('POST /threads/:thread_id/runs/wait'),
      await ofThis('ask thread start'), await ofThis('run echo')]
    expect(request).toMatchObject({ parentId: parent.spanId, kind: 2, details: {
      'http.response.status_code': '200',
      'http.route': '/threads/:thread_id/runs/wait',
      'heddle.thread_id': threadId,
      'heddle.request_id': answer.headers.get('x-request-id'),
    } })
    expect(asked).toMatchObject({ parentId: request.spanId, kind: 3 })
    expect(run).toMatchObject({ parentId: request.spanId, details: {
      'heddle.thread_id': threadId,
      'heddle.outcome': 'success',
      'heddle.run_id': request.details['heddle.run_id'],
    } })
    expect(JSON.stringify(collector.spans)).not.toContain('hunter2')
  })

  it('includes its runs that begin later', async () => {
    const [traceId, threadId] = ['12'.repeat(16), randomUUID()]
    const answer = await ask(server.url, 'POST', `/threads/${threadId}/runs`, {
      assistant_id: 'echo',
      input: say('hello'),
      if_not_exists: 'create',
      after_seconds: 0.3,
    }, { traceparent: `00-${traceId}-${parent.spanId}-01` })
    const { run_id: runId } = answer.body as { run_id: string }
    expect(await spanOf(({ details, name }) =>
      name === 'run echo' &&
      details['heddle.run_id'] === runId
    )).toMatchObject({ traceId })
  })
})

it('A request without a trace begins one, and an unsampled trace is not sent', async () => {
  const threadId = randomUUID()
  await ask(server.url, 'POST', '/threads', { thread_id: threadId }, {
    traceparent: `00-${'34'.repeat(16)}-${parent.spanId}-00`,
  })
  await ask(server.url, 'GET', `/threads/${threadId}`, undefined, { traceparent: 'nonsense' })
  expect(await spanOf(({ name, details }) =>
    name === 'GET /threads/:thread_id' &&
    details['heddle.thread_id'] === threadId
  )).toMatchObject({ parentId: '' })
  expect(collector.spans.filter(({ traceId }) => traceId === '34'.repeat(16))).toEqual([])
})

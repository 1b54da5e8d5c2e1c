/** Operations over the wire: what was answered with 202 is there. */

import { gzipSync, zstdCompressSync } from 'node:zlib'

import { expect, it } from 'vitest'

import { TraceResponse } from '../../../proto/gen/otlp/v1/trace.ts'
import { multipartOf, partsOfRuns } from '../../support/ingest-bodies.ts'
import type { ClientOperation } from '../../support/ingest-bodies.ts'
import { useServer } from '../../support/server.ts'
import { ask } from '../../support/wire.ts'

const server = useServer()

const idOf = (n: number) => `01930000-0000-7000-8000-${String(n).padStart(12, '0')}`
/** The start of all runs: a run keeps it in each operation. */
const startedAt = new Date().toISOString().replaceAll(/[-:.]/g, '').slice(0, -1)
const runOf = (n: number) => ({ id: idOf(n), trace_id: idOf(n), name: `run ${n}`, run_type: 'chain',
  dotted_order: `${startedAt}000Z${idOf(n)}`, session_name: 'ingested', inputs: { n },
  extra: { metadata: { n } } })

const send = (method: string, path: string, body?: object) =>
  ask(server.url, method, `/api/v1${path}`, body)

async function multipart(operations: readonly ClientOperation[]): Promise<Response> {
  const { body, contentType } = multipartOf(partsOfRuns(operations))
  return fetch(`${server.url}/api/v1/runs/multipart`, { method: 'POST',
    headers: { 'content-type': contentType, 'content-encoding': 'zstd' },
    body: zstdCompressSync(body) })
}

it('What was answered can be read at once.', async () => {
  const { inputs: _, ...known } = runOf(1)
  const response = await multipart([{ kind: 'post', run: runOf(1) }, { kind: 'patch',
    run: { ...known, outputs: { a: [1.50] }, end_time: Date.now() } }, { kind: 'post',
    run: { id: 'none' } }])
  expect(response.status).toBe(202)
  expect(await response.json()).toMatchObject({ rejected: [{ id: 'none' }] })
  expect((await send('GET', `/runs/${idOf(1)}`)).body).toMatchObject({ id: idOf(1), name: 'run 1',
    inputs: { n: 1 }, outputs: { a: [1.5] }, status: 'success' })
}, 60_000)

it('Each kind of request has its own answers.', async () => {
  expect((await send('POST', '/runs', runOf(2))).status).toBe(202)
  expect((await send('POST', '/runs', runOf(2))).status).toBe(409)
  expect(
    (await send('PATCH', `/runs/${idOf(2)}`, { error: 'no', end_time: Date.now(),
      session_name: null })).status,
  ).toBe(202)
  expect((await send('POST', '/runs/batch', { post: [runOf(3)], patch: [runOf(2)] })).status)
    .toBe(202)
  expect((await send('POST', '/runs/batch', { post: [{ id: 'none' }] })).status).toBe(422)
  expect((await send('POST', '/runs/batch', [1])).status).toBe(400)
  const many = Array.from({ length: 2001 }, () => ({}))
  expect((await send('POST', '/runs/batch', { post: many })).status).toBe(413)
  expect((await send('GET', `/runs/${idOf(2)}`)).body).toMatchObject({ status: 'error' })
}, 60_000)

it('Exporters of metrics and logs learn that nothing of theirs is kept.', async () => {
  const answer = async (signal: string, type: string) => {
    const response = await fetch(`${server.url}/api/v1/otel/v1/${signal}`, { method: 'POST',
      headers: { 'content-type': type, 'content-encoding': 'gzip' }, body: gzipSync('{}') })
    return { status: response.status, type: response.headers.get('content-type'),
      body: Buffer.from(await response.arrayBuffer()) }
  }
  const metrics = await answer('metrics', 'application/json')
  expect(metrics).toMatchObject({ status: 200, type: expect.stringContaining('json') as unknown })
  expect(JSON.parse(metrics.body.toString())).toMatchObject({
    partialSuccess: { rejectedDataPoints: '1',
      errorMessage: expect.stringContaining('OTEL_METRICS_EXPORTER=none') as unknown },
  })
  const logs = await answer('logs', 'application/x-protobuf')
  expect(logs).toMatchObject({ status: 200, type: 'application/x-protobuf' })
  expect(TraceResponse.decode(logs.body).partialSuccess)
    .toMatchObject({ rejectedSpans: '1',
      errorMessage: expect.stringContaining('none of these logs') as unknown })
  expect((await answer('logs', 'text/plain')).status).toBe(415)
}, 60_000)

it('A project that is deleted swallows nothing that is sent later.', async () => {
  const { body } = await send('GET', '/sessions?name=ingested')
  const [{ id }] = body as readonly [{ readonly id: string }]
  expect((await send('DELETE', `/sessions/${id}`)).status).toBe(202)
  expect((await multipart([{ kind: 'post', run: runOf(4) }])).status).toBe(202)
  expect((await send('GET', `/runs/${idOf(4)}`)).body).toMatchObject({ name: 'run 4' })
  expect((await send('GET', `/runs/${idOf(1)}`)).status).toBe(404)
}, 60_000)

it('Pages of the newer API come as events to those who accept them.', async () => {
  const { body } = await send('GET', '/sessions?name=ingested')
  const [{ id }] = body as readonly [{ readonly id: string }]
  const response = await fetch(`${server.url}/api/v2/runs/query`, { method: 'POST',
    headers: { accept: 'text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ project_ids: [id], selects: ['NAME'] }) })
  const [, data] = /^event: data\ndata: (.*)\n\nevent: end\n/.exec(await response.text())!
  expect(JSON.parse(data!)).toMatchObject({ items: [{ id: idOf(4), name: 'run 4' }] })
}, 60_000)

it('Traces are deleted by all the metadata that is named, in their project alone.', async () => {
  const roots = Array.from({ length: 120 },
    (_, n) => ({ ...runOf(1_000 + n),
      extra: { metadata: { user: n % 2 === 0 ? 'ada' : 'bob', n: n % 3, own: true } } }))
  const elsewhere = { ...runOf(2_000), session_name: 'elsewhere',
    extra: { metadata: { user: 'ada', n: 0, own: true } } }
  expect((await multipart([...roots, elsewhere].map((run) => ({ kind: 'post', run })))).status)
    .toBe(202)
  const { body } = await send('GET', '/sessions?name=ingested')
  const [{ id }] = body as readonly [{ readonly id: string }]
  const left = async () => {
    const answer = await send('POST', '/runs/query', { session: [id], limit: 100,
      filter: 'and(eq(metadata_key, "own"), eq(metadata_value, "true"))', order: 'asc',
      select: ['extra'] })
    return (answer.body as { readonly runs: readonly { readonly extra: unknown }[] }).runs
  }
  const remove = (metadata: object) => send('POST', '/runs/delete', { session_id: id, metadata })
  expect((await remove({ user: 'nobody' })).status).toBe(202)
  expect(await left()).toHaveLength(100)
  expect((await remove({ user: 'ada', n: 0 })).status).toBe(202)
  expect((await remove({ user: 'bob' })).status).toBe(202)
  const rest = await left()
  expect(rest).toHaveLength(40)
  for (const { extra } of rest) expect(extra).toMatchObject({ metadata: { user: 'ada' } })
  expect(rest).not.toContainEqual(expect.objectContaining({
    extra: { metadata: { user: 'ada', n: 0, own: true } },
  }))
  expect((await send('GET', `/runs/${idOf(2_000)}`)).status).toBe(200)
}, 60_000)

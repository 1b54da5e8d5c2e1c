/**
 * Metrics as Prometheus reads them, and as the dashboard and the alerts name them; traces as a
 * collector receives them, one for each request, from its arrival to the run.
 */

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'

import { dropKeyspace, newKeyspace } from '../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../support/cassandra.ts'
import { startOtlpReceiver } from '../support/otlp-receiver.ts'
import type { OtlpReceiver, ReceivedSpan } from '../support/otlp-receiver.ts'
import { isNight } from '../support/repeats.ts'
import { say } from '../support/run-events.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { clientOf } from '../support/server.ts'
import { ask } from '../support/wire.ts'

const cassandra = isNight ? await cassandraForTests() : undefined
const deploy = resolve(import.meta.dirname, '../../deploy')
const dashboard = JSON.parse(readFileSync(`${deploy}/dashboard.json`, 'utf8')) as {
  readonly panels: readonly Panel[]
}
interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number }
  readonly targets?: readonly { readonly expr: string }[]
}
const alerts = parse(readFileSync(`${deploy}/alerts.yaml`, 'utf8')) as {
  readonly groups: readonly { readonly rules: readonly { readonly expr: string }[] }[]
}
const expressions = [...dashboard.panels.flatMap(({ targets = [] }) => targets),
  ...alerts.groups.flatMap(({ rules }) => rules)].map(({ expr }) => expr)

let collector: OtlpReceiver
let server: ServerProcess
beforeAll(async () => {
  collector = await startOtlpReceiver()
  server = await startServer({ project: 'conformance', args: [...oneWorker, '--log-level', 'debug'],
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } })
})
afterAll(async () => {
  await server.close()
  await collector.close()
})

const read = async (url: string) => String((await ask(url, 'GET', '/metrics')).body)

/** The names of all metrics in the text, including the series of each histogram. */
function namesIn(text: string): ReadonlySet<string> {
  return new Set(
    [...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].flatMap(([, name, type]) =>
      type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name!]
    ),
  )
}

/** The value of the line with this name and these labels. */
function valueOf(text: string, name: string, ...labels: readonly string[]): number | undefined {
  const line = text.split('\n').find((each) =>
    new RegExp(`^${name}[{ ]`).test(each) && labels.every((label) => each.includes(label))
  )
  return line === undefined ? undefined : Number(line.split(' ').at(-1))
}

describe('metrics', () => {
  it('count requests by the pattern of their route, never by text from clients', async () => {
    const threadId = randomUUID()
    await ask(server.url, 'POST', `/threads/${threadId}/runs/wait?token=hunter2`, {
      assistant_id: 'echo',
      input: say('hello'),
      if_not_exists: 'create',
    }, { 'x-api-key': 'hunter2' })
    await ask(server.url, 'GET', '/no/such/hunter2')
    await expect.poll(async () =>
      valueOf(await read(server.url), 'heddle_http_requests_total', 'route="none"', 'status="404"')
    ).toBe(1)
    const text = await read(server.url)
    const route = 'route="/threads/:thread_id/runs/wait"'
    expect(valueOf(text, 'heddle_http_requests_total', route, 'method="POST"', 'status="200"'))
      .toBe(1)
    expect(valueOf(text, 'heddle_http_request_duration_seconds_count', route)).toBe(1)
    expect(text).not.toMatch(new RegExp(`hunter2|${threadId}`))
    expect(server.output()).toContain('A request is over.')
    expect(server.output()).not.toContain('hunter2')
  })

  it('show how runs ended, and which actors and workers exist', async () => {
    const client = clientOf(server.url)
    const before = valueOf(await read(server.url), 'heddle_runs_ended_total', '"error"') ?? 0
    const { thread_id: threadId } = await client.threads.create()
    const created = await fetch(`${server.url}/threads/${threadId}/runs`, { method: 'POST',
      headers: { 'content-type': 'application/json', 'x-request-id': 'order-66' },
      body: JSON.stringify({ assistant_id: 'failing', input: {} }) })
    const { run_id: runId } = await created.json() as { run_id: string }
    await client.runs.join(threadId, runId).catch(() => {})
    const text = await read(server.url)
    expect(valueOf(text, 'heddle_runs_ended_total', '"error"')).toBe(before + 1)
    expect(valueOf(text, 'heddle_actors', 'kind="thread"')).toBeGreaterThan(0)
    expect(valueOf(text, 'heddle_actors_begun_total', 'kind="thread"')).toBeGreaterThan(0)
    expect(valueOf(text, 'heddle_mailbox_commands', 'kind="thread"')).toBe(0)
    expect(valueOf(text, 'heddle_log_append_duration_seconds_count', '"ok"')).toBeGreaterThan(0)
    expect(valueOf(text, 'heddle_log_bytes_total')).toBeGreaterThan(100)
    expect(valueOf(text, 'heddle_shards', '"self"')).toBe(256)
    expect(valueOf(text, 'heddle_workers', '"idle"')).toBeGreaterThan(0)
    expect(valueOf(text, 'heddle_http_requests_under_way')).toBe(1)
    const lines = server.output().trimEnd().split('\n').map((line) => JSON.parse(line) as object)
    expect(lines).toContainEqual(expect.objectContaining({ message: 'Heddle is ready.' }))
    const failed = server.output().split('\n').find((line) => line.includes('A run failed.'))
    expect(failed).toContain(threadId)
    expect(failed).toContain(runId)
    expect(failed).toContain('"requestId":"order-66"')
    expect(failed).toMatch(/"at":"steps\.ts:\d+:\d+"/)
  })

  it('show that a run without a thread leaves no actor, and nothing kept back', async () => {
    const { runs, threads } = clientOf(server.url)
    await threads.create()
    const numbers = async () => {
      const text = await read(server.url)
      return [valueOf(text, 'heddle_runs_kept_back'),
        valueOf(text, 'heddle_actors', 'kind="thread"')]
    }
    const before = await numbers()
    for (const word of ['x', 'y', 'z']) await runs.wait(null, 'echo', { input: say(word) })
    await expect.poll(numbers).toEqual(before)
  })

  it('are served on the front door only to callers on this machine', async () => {
    const { status } = await ask(server.url, 'GET', '/metrics', undefined, {
      'x-forwarded-for': '10.0.0.1',
    })
    expect(status).toBe(404)
  })

  it.runIf(isNight)('are served on a port of their own if one is configured', async () => {
    const apart = await startServer({ project: 'conformance', args: ['--metrics-port', '0'] })
    try {
      expect((await ask(apart.url, 'GET', '/metrics')).status).toBe(404)
      await expect.poll(() => apart.output()).toMatch(/"metrics":"port \d+ of 127\.0\.0\.1"/)
      const [, port] = /"metrics":"port (\d+)/.exec(apart.output())!
      expect(namesIn(await read(`http://127.0.0.1:${port}`))).toContain('heddle_info')
      expect((await ask(`http://127.0.0.1:${port}`, 'GET', '/ok')).status).toBe(404)
    } finally {
      await apart.close()
    }
  })
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

/** Metrics that no server has but a member with Cassandra and keys. */
const ofMembers = ['fences_total', 'gate_state', 'gate_validation_duration_seconds_bucket',
  'gate_validation_duration_seconds_count', 'gate_validation_duration_seconds_sum',
  'key_looks_total', 'keys_remembered', 'log_cache_bytes', 'log_cache_reads_total',
  'shards_given_total', 'shards_taken_total'].map((name) => `heddle_${name}`)

describe('the dashboard and the alerts', () => {
  let known: ReadonlySet<string>
  beforeAll(async () => {
    known = new Set([...namesIn(await read(server.url)), ...ofMembers])
  })

  it.skipIf(!cassandra)('are about a member, which has these metrics', async () => {
    const place = newKeyspace(cassandra!)
    const member = await startServer({ project: 'telling', cassandra: place,
      args: [...oneWorker, '--auth', 'keys', '--limits', 'on'] })
    const names = namesIn(await read(member.url))
    await member.close()
    await dropKeyspace(place)
    expect([...names].sort()).toEqual([...known].sort())
  })

  it('query only metrics that exist', () => {
    const asked = new Set(
      expressions.flatMap((expr) => expr.match(/\b(heddle|nodejs|process)_\w+/g)!),
    )
    expect([...asked].filter((name) => !known.has(name))).toEqual([])
    expect(asked.size).toBeGreaterThan(25)
  })

  it('show every metric of Heddle', () => {
    const all = expressions.join('\n')
    const unseen = [...known].filter((name) => name.startsWith('heddle_'))
      .map((name) => name.replace(/_(bucket|sum|count)$/, ''))
    expect([...new Set(unseen)].filter((name) => !new RegExp(`\\b${name}(_|\\b)`).test(all)))
      .toEqual([])
  })
})

it('The dashboard has its panels in rows, side by side, each with something to show', () => {
  const rows = dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title)
  expect(rows).toEqual(['Front door', 'Actors', 'Log', 'Ownership', 'Limits', 'Workers',
    'Deployments', 'Process'])
  const places = dashboard.panels.map(({ gridPos: { x, y } }) => `${x} ${y}`)
  expect(new Set(places).size).toBe(places.length)
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
  for (const { type, targets, gridPos: { x, w } } of dashboard.panels) {
    expect(x + w).toBeLessThanOrEqual(24)
    if (type !== 'row') expect(targets!.length).toBeGreaterThan(0)
  }
})

/** Traces that are given out and sent in again are the same; SQL reads what is there. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { expectAlways } from '../../support/expect-always.ts'
import { useServer } from '../../support/server.ts'
import { ask } from '../../support/wire.ts'

const server = useServer()

const send = (method: string, path: string, body?: unknown) => ask(server.url, method, path, body)
/** Only a data directory can be read with SQL. */
const onCassandra = process.env['HEDDLE_TEST_STORE'] === 'cassandra'

type Run = Readonly<Record<string, unknown>> & { readonly id: string; readonly trace_id: string }

const json = fc.oneof(fc.constantFrom<unknown>('a', '', 'Äpfel "q"\n', 1, 2.5, true, null),
  fc.jsonValue({ maxDepth: 2 }))
const object = fc.dictionary(fc.constantFrom('question', 'k', 'deep.er', 'ü'), json, { maxKeys: 3 })

interface Draft {
  readonly name: string
  readonly run_type: string
  readonly lastsMs: number | null
  readonly error: string | null
  readonly tags: readonly string[]
  readonly inputs: object
  readonly outputs: object | null
  readonly metadata: object
  readonly events: readonly object[]
}

const aSpan: fc.Arbitrary<Draft> = fc.record({
  name: fc.constantFrom('agent', 'model "x"', 'tool'),
  run_type: fc.constantFrom('chain', 'llm', 'tool', 'retriever'),
  lastsMs: fc.option(fc.integer({ min: 0, max: 3_000 })),
  error: fc.option(fc.constantFrom('Boom', 'time\nout'), { freq: 4 }),
  tags: fc.uniqueArray(fc.constantFrom('t1', 'graph:step:1'), { maxLength: 2 }),
  inputs: object,
  outputs: fc.option(object),
  metadata: fc.dictionary(fc.constantFrom('user', 'n', 'thread_id'),
    fc.constantFrom<unknown>('x', 1, 2.5, true, null, ['a', 1], { in: { side: 1 } })),
  events: fc.array(
    fc.record({ name: fc.constantFrom('new_token', 'start'),
      kwargs: fc.record({ token: fc.constantFrom('a', 'b c') }) }),
    { maxLength: 2 },
  ),
})

let traces = 0

/** A trace with a root and all others below it. */
function runsOf(project: string, drafts: readonly Draft[]): readonly Run[] {
  const beganMs = Date.now() - 60_000
  const stamp = (ms: number) =>
    `${new Date(ms).toISOString().replaceAll(/[-:.]/g, '').slice(0, -1)}000Z`
  const ids = drafts.map((_, index) =>
    `01940000-${String(++traces).padStart(4, '0')}-7000-8000-${String(index).padStart(12, '0')}`
  )
  return drafts.map(({ lastsMs, metadata, error, events, outputs, ...draft }, index) => {
    const startMs = beganMs + index * 7
    const order = `${stamp(beganMs)}${ids[0]}`
    return {
      ...draft,
      id: ids[index]!,
      trace_id: ids[0]!,
      session_name: project,
      dotted_order: index === 0 ? order : `${order}.${stamp(startMs)}${ids[index]}`,
      ...index > 0 && { parent_run_id: ids[0] },
      start_time: new Date(startMs).toISOString(),
      ...lastsMs !== null && { end_time: new Date(startMs + lastsMs).toISOString(), outputs },
      ...error !== null && { error },
      extra: { metadata, invocation_params: { model: 'm', temperature: 0.5 } },
      events: events.map((event) => ({ ...event,
        time: new Date(startMs).toISOString().replace('Z', '000Z') })
      ),
    }
  })
}

const own = ['OTEL_TRACE_ID', 'OTEL_SPAN_ID', 'ls_method']

/** What of a run must be the same wherever it is. */
function essence(run: Run): object {
  const { extra, outputs, session_id: _1, app_path: _2, ...rest } = run as Run & {
    readonly extra: { readonly metadata?: Record<string, unknown> }
  }
  const metadata = Object.fromEntries(
    Object.entries(extra.metadata ?? {}).filter(([key]) => !own.includes(key)),
  )
  return { ...rest, metadata, outputs: outputs ?? null }
}

async function runsIn(project: string): Promise<ReadonlyMap<string, object>> {
  const { body } = await send('GET', `/api/v1/sessions?name=${project}`)
  const [{ id }] = body as readonly [{ readonly id: string }]
  const { body: answer } = await send('POST', '/api/v1/runs/query', { session: [id],
    select: ['id', 'trace_id', 'name', 'run_type', 'start_time', 'end_time', 'status', 'error',
      'inputs', 'outputs', 'tags', 'parent_run_id', 'dotted_order', 'extra', 'events'] })
  return new Map((answer as { readonly runs: readonly Run[] }).runs
    .map((run) => [run.id, essence(run)]))
}

async function exported(project: string, format: string): Promise<readonly string[]> {
  const { body } = await send('GET', `/api/v1/sessions?name=${project}`)
  const [{ id }] = body as readonly [{ readonly id: string }]
  const response = await fetch(`${server.url}/api/v1/runs/export`, { method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ session: [id], format }) })
  expect([response.status, response.headers.get('content-type')])
    .toEqual([200, expect.stringMatching(/^application\/x-ndjson/)])
  return (await response.text()).split('\n').filter((line) => line !== '')
}

it('A trace that is given out and sent in again is the same, in both forms', async () => {
  let round = 0
  await expectAlways(
    fc.asyncProperty(fc.array(aSpan, { minLength: 1, maxLength: 6 }), async (drafts) => {
      round += 1
      const project = `out-${round}`
      const runs = runsOf(project, drafts)
      expect((await send('POST', '/api/v1/runs/batch', { post: runs })).status).toBe(202)
      const before = await runsIn(project)
      expect(before.size).toBe(drafts.length)
      const lines = (await exported(project, 'jsonl')).map((line) => JSON.parse(line) as Run)
      expect(lines.map(({ id }) => id)).toEqual(runs.map(({ id }) => id))
      const again = lines.map((run) => ({ ...run, session_name: `${project}-jsonl` }))
      expect((await send('POST', '/api/v1/runs/batch', { post: again })).status).toBe(202)
      expect(await runsIn(`${project}-jsonl`)).toEqual(before)
      const requests = await exported(project, 'otlp')
      for (const request of requests) {
        const { status } = await send('POST', '/api/v1/otel/v1/traces',
          JSON.parse(request.replaceAll(`"${project}"`, `"${project}-otlp"`)))
        expect(status).toBe(200)
      }
      expect(await runsIn(`${project}-otlp`)).toEqual(before)
    }),
    { share: 10 },
  )
}, onCassandra ? 600_000 : 120_000)

/** Writes three runs of a project. Returns them, and a function that queries the project. */
async function askedProject() {
  const runs = runsOf('asked', fc.sample(aSpan, { numRuns: 3, seed: 1 }))
  await send('POST', '/api/v1/runs/batch', { post: runs })
  const { body } = await send('GET', '/api/v1/sessions?name=asked')
  const [{ id }] = body as readonly [{ readonly id: string }]
  const question = (query: string) => send('POST', '/v2/sql/query', { project_ids: [id], query })
  return { runs, question }
}

it.skipIf(onCassandra)('SQL reads the runs of the projects that it names', async () => {
  const { runs, question } = await askedProject()
  const { status, body: answer } = await question(
    'SELECT count(*) AS n, count(parent_run_id) AS below, min(trace_id) AS trace FROM runs',
  )
  expect([status, answer]).toMatchObject([200, { row_count: 1, is_truncated: false,
    rows: [[3, 2, runs[0]!.id]] }])
  const wrong = await question('DELETE FROM runs')
  expect([wrong.status, wrong.body]).toMatchObject([422, {
    detail: 'query: cannot modify runs because it is a view.',
  }])
}, 60_000)

it.runIf(onCassandra)('SQL is refused if traces are in Cassandra', async () => {
  const { question } = await askedProject()
  expect(await question('SELECT 1')).toMatchObject({ status: 422, body: { title: 'unsupported' } })
})

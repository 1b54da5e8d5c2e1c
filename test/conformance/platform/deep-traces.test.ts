/** The steps of the server's own runs, traced by the project's own library. */

import { describe, expect, it } from 'vitest'

import { useGates } from '../../support/gate.ts'
import { startHeld } from '../../support/held-run.ts'
import { isNight } from '../../support/repeats.ts'
import { useServer } from '../../support/server.ts'
import { oneWorker } from '../../support/server-process.ts'
import { ask } from '../../support/wire.ts'

const deep = ['--own-traces', 'deep']
const server = useServer({ project: 'conformance', args: [...oneWorker, ...deep] })
const gate = useGates()

interface Span {
  readonly id: string
  readonly name: string
  readonly run_type: string
  readonly inputs: unknown
  readonly outputs: unknown
  readonly error: string | null
  readonly status: string
  readonly parent_run_id: string | null
  readonly session_id: string
  readonly extra: { readonly metadata: Readonly<Record<string, unknown>> }
}

async function query(at: typeof server, body: object): Promise<readonly Span[]> {
  const answer = await ask(at.url, 'POST', '/api/v1/runs/query', body)
  expect(answer).toMatchObject({ status: 200 })
  return (answer.body as { readonly runs: readonly Span[] }).runs
}

/** The spans of a trace, when its root has ended. */
function traceOf(at: typeof server, trace: string): Promise<readonly Span[]> {
  return expect.poll(async () => {
    const spans = await query(at, { trace })
    return spans.some(({ id, status }) => id === trace && status !== 'pending') ? spans : undefined
  }).toBeDefined().then(() => query(at, { trace }))
}

async function runOf(at: typeof server, graph: string, input: Record<string, unknown>,
  more: object = {}) {
  const { threads, runs } = at.client
  const { thread_id: threadId } = await threads.create()
  await runs.wait(threadId, graph, { input, raiseError: false, ...more })
  const [run] = await runs.list(threadId)
  return { threadId, id: run!.run_id }
}

const said = { messages: [{ role: 'user', content: 'Count!' }] }

it('traces nodes and calls of models with their inputs and outputs', async () => {
  const { threadId, id } = await runOf(server, 'tokens', said)
  const spans = await traceOf(server, id)
  const named = (name: string) => spans.find((span) => span.name === name)!
  const model = spans.find(({ run_type: type }) => type === 'llm')!
  expect(spans.map(({ parent_run_id: parent }) => parent)).toContain(id)
  expect(named('tokens')).toMatchObject({ id, run_type: 'chain', status: 'success', error: null,
    parent_run_id: null, inputs: { messages: [{ content: 'Count!' }] },
    extra: { metadata: { thread_id: threadId, graph_id: 'tokens' } } })
  expect(named('model')).toMatchObject({ run_type: 'chain', parent_run_id: id })
  expect(model).toMatchObject({ parent_run_id: named('model').id, status: 'success' })
  expect(JSON.stringify(model.inputs)).toContain('Count!')
  expect(JSON.stringify(model.outputs)).toContain('one two three')
  const { body } = await ask(server.url, 'GET', '/api/v1/sessions?name=tokens')
  const [project] = body as readonly { readonly id: string }[]
  expect(new Set(spans.map(({ session_id: session }) => session))).toEqual(new Set([project!.id]))
  // The run is not there a second time, and its steps are found in the whole project.
  const roots = await query(server, { session: [project!.id], is_root: true })
  expect(roots.map((root) => root.id)).toEqual([id])
  const models = await query(server, { session: [project!.id], run_type: 'llm' })
  expect(models.map((span) => span.id)).toEqual([model.id])
})

it('keeps nothing of a run that is deleted, rolled back, or whose thread is deleted', async () => {
  const { threads, runs } = server.client
  const [one, two] = [await runOf(server, 'tokens', said), await runOf(server, 'tokens', said)]
  for (const { id } of [one, two]) await traceOf(server, id)
  await runs.delete(one.threadId, one.id)
  await threads.delete(two.threadId)
  const { thread_id: threadId } = await threads.create()
  const held = await startHeld(server.client, threadId, gate())
  await runs.cancel(threadId, held.runId, true, 'rollback')
  for (const id of [one.id, two.id, held.runId]) {
    expect(await query(server, { trace: id })).toEqual([])
    expect((await ask(server.url, 'GET', `/api/v1/runs/${id}`)).status).toBe(404)
  }
})

it('traces several nodes, in the project that the metadata names', async () => {
  const { id } = await runOf(server, 'steps', { topic: 'x' }, { metadata: { project: 'mine' } })
  const spans = await traceOf(server, id)
  expect(spans.map(({ name }) => name)).toEqual(expect.arrayContaining(['steps', 'a', 'b', 'c']))
  const { body } = await ask(server.url, 'GET', '/api/v1/sessions?name=mine')
  expect(body).toMatchObject([{ id: spans[0]!.session_id }])
})

it('traces a run that fails, in a node or before the graph is called', async () => {
  const failed = await runOf(server, 'failing', { topic: 'odd' })
  expect((await traceOf(server, failed.id)).find(({ id }) => id === failed.id))
    .toMatchObject({ name: 'failing', status: 'error', error: expect.stringContaining('odd') })
  const early = await runOf(server, 'needy', said)
  expect(await traceOf(server, early.id)).toMatchObject([{ id: early.id, name: 'needy',
    status: 'error', error: expect.stringContaining('who is the customer?') }])
})

describe.runIf(isNight)('a server without samples, or with traces elsewhere', () => {
  const unsampled = useServer({ project: 'conformance',
    args: [...oneWorker, ...deep, '--own-traces-ratio', '0'] })
  const elsewhere = useServer({ project: 'conformance', args: [...oneWorker, ...deep],
    env: { LANGSMITH_TRACING: 'true', LANGSMITH_ENDPOINT: 'http://127.0.0.1:9',
      LANGSMITH_API_KEY: 'none' } })

  it('shows runs only, if they are not sampled or are traced elsewhere', async () => {
    for (const at of [unsampled, elsewhere]) {
      const { id } = await runOf(at, 'steps', { topic: 'x' })
      const spans = await query(at, { trace: id })
      expect(spans.map(({ name }) => name)).toEqual(['steps', 'a', 'b', 'c'])
    }
    expect(elsewhere.process.output()).toContain('it sends its traces elsewhere')
  })
})

it.runIf(isNight)('writes what its workers hold before it ends', async () => {
  const { id } = await runOf(server, 'steps', { topic: 'last' })
  await server.process.kill('SIGTERM')
  await server.process.restart()
  const spans = await query(server, { trace: id })
  expect(spans.map(({ name, status }) => `${name} ${status}`)).toEqual(
    expect.arrayContaining(['steps success', 'a success', 'b success', 'c success']),
  )
})

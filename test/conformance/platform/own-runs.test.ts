/** Runs of the server's own graphs as traces, by the official client and the API of traces. */

import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'

import { useGates } from '../../support/gate.ts'
import { startHeld } from '../../support/held-run.ts'
import { isNight } from '../../support/repeats.ts'
import { useServer } from '../../support/server.ts'
import { oneWorker } from '../../support/server-process.ts'
import { useTenant } from '../../support/tenant.ts'
import { ask } from '../../support/wire.ts'

const server = useTenant({ kills: isNight })
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
  readonly dotted_order: string
  readonly start_time: string
  readonly end_time: string
  readonly session_id: string
  readonly thread_id: string
  readonly total_tokens: number
  readonly feedback_stats: object
  readonly extra: { readonly metadata: Readonly<Record<string, unknown>> }
}

const send = (method: string, path: string, body?: object) =>
  server.ask(method, `/api/v1${path}`, body)

async function projectOf(name: string): Promise<string> {
  const { body } = await send('GET', `/sessions?name=${encodeURIComponent(name)}`)
  return (body as readonly { readonly id: string }[])[0]!.id
}

async function query(body: object): Promise<readonly Span[]> {
  const answer = await send('POST', '/runs/query', body)
  expect(answer).toMatchObject({ status: 200 })
  return (answer.body as { readonly runs: readonly Span[] }).runs
}

async function runOf(graph: string, input: Record<string, unknown> | null, more: object = {}) {
  const { threads, runs } = server.client
  const { thread_id: threadId } = await threads.create()
  const output = await runs.wait(threadId, graph, { input, raiseError: false, ...more })
  const [run] = await runs.list(threadId)
  return { threadId, run: run!, output }
}

it('shows a run with its input, output and nodes', async () => {
  const { threadId, run: { run_id: id }, output } = await runOf('steps', { topic: 'x' }, {
    metadata: { customer: 'c-1' },
  })
  const project = await projectOf('steps')
  const filter = 'and(eq(metadata_key, "customer"), eq(metadata_value, "c-1"))'
  const expected = { id, name: 'steps', run_type: 'chain', status: 'success',
    inputs: { topic: 'x' }, outputs: output, error: null, parent_run_id: null, thread_id: threadId,
    session_id: project, extra: { metadata: { customer: 'c-1', thread_id: threadId, run_id: id } } }
  expect(await query({ session: [project], filter })).toMatchObject([expected])
  expect((await send('GET', `/runs/${id}`)).body).toMatchObject(expected)

  const trace = await query({ trace: id })
  expect(trace.map(({ name, inputs, outputs }) => ({ name, inputs, outputs }))).toEqual([
    { name: 'steps', inputs: { topic: 'x' }, outputs: output },
    { name: 'a', inputs: { topic: 'x', log: [] }, outputs: { log: ['a:x'] } },
    { name: 'b', inputs: { topic: 'x', log: ['a:x'] }, outputs: { log: ['b:x'] } },
    { name: 'c', inputs: { topic: 'x', log: ['a:x', 'b:x'] }, outputs: { log: ['c:x'] } },
  ])
  for (const step of trace.slice(1)) {
    expect(step).toMatchObject({ parent_run_id: id, run_type: 'chain', status: 'success',
      session_id: project, thread_id: threadId,
      extra: { metadata: { langgraph_node: step.name } } })
    expect(step.dotted_order).toMatch(trace[0]!.dotted_order)
    expect(step.start_time >= trace[0]!.start_time).toBe(true)
    expect(step.end_time <= trace[0]!.end_time).toBe(true)
  }
  expect((await query({ trace: id })).map((each) => each.id)).toEqual(trace.map((each) => each.id))
  expect(await query({ trace: id, filter: 'eq(name, "b")' })).toMatchObject([{ name: 'b' }])
  expect(await query({ session: [project], filter: 'eq(name, "b")' })).toEqual([])
  expect(await query({ session: [project], trace: id, is_root: false })).toHaveLength(3)
  const { body } = await server.ask('GET',
    `/api/v2/traces/${id}/runs?project_id=${project}&selects=NAME&selects=OUTPUTS`)
  const { items } = body as { readonly items: readonly Span[] }
  expect(items.map(({ name }) => name)).toEqual(['steps', 'a', 'b', 'c'])
}, 60_000)

it('shows long texts', async () => {
  const long = 'x'.repeat(300_000)
  const { run: { run_id: id } } = await runOf('echo', {
    messages: [{ role: 'user', content: long }],
  })
  const [root] = await query({ trace: id })
  expect(root).toMatchObject({ inputs: { messages: [{ content: long }] },
    outputs: { messages: [{ content: long }, { content: `echo: ${long}` }] } })
})

it('groups runs by their threads', async () => {
  const { threadId, output } = await runOf('fanout', { topic: 'x' })
  const body = { session_id: await projectOf('fanout'), group_by: 'conversation' }
  const answer = await send('POST', '/runs/group', body)
  expect(answer.body).toMatchObject({
    groups: [{ group_key: threadId, count: 1, first_inputs: 'x' }],
  })
  expect(output).toBeDefined()
})

it('shows a run without a thread, but nothing keeps its payload', async () => {
  const { runs } = server.client
  await runs.wait(null, 'chain', { input: { topic: 'x' } })
  const project = await projectOf('chain')
  expect(await query({ session: [project] })).toMatchObject([{ name: 'chain', status: 'success',
    inputs: {}, outputs: null }])
})

it('shows why a run failed, and which node did', async () => {
  const { run: { run_id: id } } = await runOf('failing', { topic: 'x' })
  const project = await projectOf('failing')
  const failed = { id, status: 'error', error: 'TypeError: x', inputs: { topic: 'x' },
    outputs: null }
  expect(await query({ session: [project], error: true })).toMatchObject([failed])
  expect(await query({ trace: id })).toMatchObject([failed, { name: 'a', error: null }, {
    name: 'boom',
    error: 'TypeError: x',
    status: 'error',
    outputs: null,
  }])
})

it('shows what a run waits for, and the answer in the next one', async () => {
  const { threadId, run: first } = await runOf('ask', {})
  const [root, asking] = await query({ trace: first.run_id })
  expect(root).toMatchObject({ status: 'success', outputs: { __interrupt__: [{}] } })
  expect(asking).toMatchObject({ name: 'ask', outputs: { __interrupt__: [{}] }, error: null })
  await server.client.runs.wait(threadId, 'ask', { command: { resume: 'yes' } })
  const [next] = await server.client.runs.list(threadId)
  const answered = await query({ trace: next!.run_id })
  expect(answered).toMatchObject([{ inputs: { command: { resume: 'yes' } } }, { name: 'ask' }, {
    name: 'after',
  }])
  expect(answered[1]!.start_time >= answered[0]!.start_time).toBe(true)
})

it('takes feedback on a run', async () => {
  const { run: { run_id: id } } = await runOf('echo', { messages: [] })
  await query({ id: [id] })
  expect((await send('POST', '/feedback', { run_id: id, key: 'good', score: 1 })).status).toBe(200)
  expect((await send('GET', `/runs/${id}`)).body)
    .toMatchObject({ feedback_stats: { good: { n: 1, avg: 1 } } })
})

/** Ids of the runs of a customer, as a filter on metadata finds them. */
async function runsOfCustomer(graph: string, customer: string): Promise<readonly string[]> {
  const filter = `and(eq(metadata_key, "customer"), eq(metadata_value, "${customer}"))`
  return (await query({ session: [await projectOf(graph)], filter })).map(({ id }) => id)
}

it('shows nothing of a run that is deleted, or whose thread is', async () => {
  const customer = randomUUID()
  const { threads, runs } = server.client
  const one = await runOf('steps', { topic: 'x' }, { metadata: { customer } })
  const { threadId, run } = await runOf('steps', { topic: 'x' }, { metadata: { customer } })
  expect(await runsOfCustomer('steps', customer)).toEqual([run.run_id, one.run.run_id])
  await runs.delete(one.threadId, one.run.run_id)
  expect(await runsOfCustomer('steps', customer)).toEqual([run.run_id])
  await threads.delete(threadId)
  expect(await runsOfCustomer('steps', customer)).toEqual([])
  for (const id of [one.run.run_id, run.run_id]) {
    expect(await send('GET', `/runs/${id}`)).toMatchObject({ status: 404 })
    expect(await query({ trace: id })).toEqual([])
  }
  const body = { session: [await projectOf('steps')], is_root: true,
    filter: `and(eq(metadata_key, "customer"), eq(metadata_value, "${customer}"))` }
  expect((await send('POST', '/runs/stats', body)).body).toMatchObject({ run_count: 0 })
})

it('shows a run as pending while it runs, and as an error when it is cancelled', async () => {
  const { threads, runs } = server.client
  const { thread_id: threadId } = await threads.create()
  const hold = gate()
  const { runId: id, text } = await startHeld(server.client, threadId, hold)
  const pending = { id, name: 'held', status: 'pending', end_time: null, outputs: null,
    inputs: { messages: [{ content: text }] }, error: null }
  expect(await query({ id: [id] })).toMatchObject([pending])
  expect((await send('GET', `/runs/${id}`)).body).toMatchObject(pending)
  await runs.cancel(threadId, id, true)
  const error = 'Cancelled: cancelled: a client asked for it.'
  expect((await send('GET', `/runs/${id}`)).body).toMatchObject({ id, status: 'error', error })
  const body = { session: [await projectOf('held')] }
  expect((await send('POST', '/runs/stats', body)).body).toMatchObject({ run_count: 1,
    error_rate: 1 })
})

it('has no trace of a run that is rolled back', async () => {
  const { threads, runs } = server.client
  const { thread_id: threadId } = await threads.create()
  const first = await startHeld(server.client, threadId, gate())
  await runs.wait(threadId, 'echo', { input: { messages: [] }, multitaskStrategy: 'rollback' })
  const second = await startHeld(server.client, threadId, gate())
  await runs.cancel(threadId, second.runId, true, 'rollback')
  const deleted = await startHeld(server.client, threadId, gate())
  await runs.delete(threadId, deleted.runId)
  for (const { runId: id } of [first, second, deleted]) {
    expect(await send('GET', `/runs/${id}`)).toMatchObject({ status: 404 })
    expect(await query({ id: [id] })).toEqual([])
  }
})

describe.runIf(isNight)('a server with --own-traces off', () => {
  const untraced = useServer({ project: 'conformance',
    args: [...oneWorker, '--own-traces', 'off'] })

  it('shows no runs with --own-traces off', async () => {
    const { threads, runs } = untraced.client
    const { thread_id: threadId } = await threads.create()
    await runs.wait(threadId, 'steps', { input: { topic: 'x' } })
    expect((await ask(untraced.url, 'GET', '/api/v1/sessions')).body).toEqual([])
    const [run] = await runs.list(threadId)
    expect((await ask(untraced.url, 'GET', `/api/v1/runs/${run!.run_id}`)).status).toBe(404)
  })
})

it.runIf(isNight)('shows a run of a server that was killed at once, when its thread is opened',
  async () => {
    const before = await runOf('steps', { topic: 'before' })
    await query({ id: [before.run.run_id] })
    const after = await runOf('steps', { topic: 'after' })
    await server.process.kill('SIGKILL')
    await server.process.restart()
    for (const { threadId, run: { run_id: id }, output } of [before, after]) {
      await server.client.threads.get(threadId)
      await expect.poll(async () => (await send('GET', `/runs/${id}`)).body)
        .toMatchObject({ id, outputs: output })
      expect(await query({ trace: id })).toHaveLength(4)
    }
  }, 60_000)

it('ends with links for feedback, which anybody may give', async () => {
  const { thread_id: threadId } = await server.client.threads.create()
  const streamed = async (graph: string) => {
    const events: { readonly event: string; readonly data: unknown }[] = []
    const stream = server.client.runs.stream(threadId, graph, {
      input: { topic: 'x' },
      streamMode: 'updates',
      feedbackKeys: ['good', 'well said'],
    })
    for await (const { event, data } of stream) events.push({ event, data })
    return events
  }
  const events = await streamed('steps')
  expect(events.slice(-2).map(({ event }) => event)).toEqual(['feedback', 'end'])
  const links = events.at(-2)!.data as Readonly<Record<string, string>>
  expect(Object.keys(links)).toEqual(['good', 'well said'])
  expect(await fetch(`${links['well said']}?score=1`)).toMatchObject({ status: 200 })
  const [run] = await server.client.runs.list(threadId)
  const given = (await send('GET', `/feedback?run=${run!.run_id}`)).body
  expect(given).toMatchObject([{ key: 'well said', score: 1 }])
  expect((run as { kwargs?: object }).kwargs).toMatchObject({
    feedback_keys: ['good', 'well said'],
  })
})

/** Runs of this server as traces: what is read from their threads, and how much of it. */

import { expect, it } from 'vitest'

import { noFields } from '../../../../src/platform/index.ts'
import type { RunsQuestion, SpanWrite } from '../../../../src/platform/index.ts'
import type { QueryThreadNeeds } from '../../../../src/platform/threads/platform-calls.ts'
import { queryHandlers } from '../../../../src/platform/threads/query-handlers.ts'
import type { RunningRun } from '../../../../src/platform/query/own/own-run-calls.ts'
import type { PriceJson } from '../../../../src/platform/ingest/pricing/prices.ts'
import { sealBlock } from '../../../../src/platform/spans/block.ts'
import { termOf } from '../../../../src/platform/spans/term.ts'
import { virtualEnv } from '../../../support/env.ts'
import { memorySpans } from '../../../support/memory-spans.ts'
import { projectOf } from '../../../support/random-spans.ts'

const project = 'aaaaaaaa-0000-4000-8000-000000000001'
const run = '0193a6b0-0000-7000-8000-000000000001'
const startMs = Date.UTC(2026, 0, 31, 12)
const startUs = startMs * 1_000
const order = `20260131T120000000000Z${run}`

interface StateIn {
  readonly id: string
  readonly parent: string | null
  readonly run?: string
  readonly source?: string
  readonly atMs: number
  /** By default the time. */
  readonly step?: number
  readonly tasks?: readonly object[]
}

const stateText = (
  { id, parent, run: by = run, source = 'loop', atMs, step = atMs, tasks = [] }: StateIn,
) =>
  JSON.stringify({ values: { at: id }, tasks, metadata: { run_id: by, source, step },
    created_at: new Date(startMs + atMs).toISOString(), checkpoint_id: id,
    parent_checkpoint_id: parent })

/** A thread with these states, newest first. */
async function opened(states: readonly StateIn[],
  { kwargs = '{"input":{"q":1}}', isSent = false, texts = {}, running = [], prices = [] }: {
    readonly kwargs?: string
    readonly isSent?: boolean
    readonly texts?: object
    readonly running?: readonly RunningRun[]
    readonly prices?: readonly PriceJson[]
  } = {}) {
  const store = memorySpans()
  const asked: string[] = []
  const needs: QueryThreadNeeds = {
    prices: async () => prices,
    ownRun: async (name) => {
      asked.push(`run ${JSON.stringify(name)}`)
      return { kwargs, metadata: '{"customer":"c"}', error: null, outputs: '{"done":true}',
        finalCheckpoint: states[0]?.id ?? '', ...texts }
    },
    runningRuns: async ({ ids }) => running.filter(({ run: { id } }) => ids.includes(id)),
    ownState: async ({ checkpoint }) => {
      asked.push(`state ${checkpoint}`)
      const found = states.find(({ id }) => id === checkpoint)
      return found === undefined ? null : stateText(found)
    },
    ownStatesBefore: async ({ checkpoint, limit }) => {
      asked.push(`before ${checkpoint}`)
      const from = states.findIndex(({ id }) => id === checkpoint) + 1
      return states.slice(from, from + limit).map(stateText)
    },
  }
  const place = { tenant: 'acme', project, startUs, id: run, trace: run, traceStartUs: startUs }
  const block = sealBlock(run, startUs, [{ span: run, kind: 'post',
    members: { inputs: Buffer.from('{"sent":1}') } }])
  const write: SpanWrite = { place, kind: 'post', arrivedUs: startUs, indexed: 0,
    terms: [termOf.own], block: isSent ? block.id : null,
    fields: { ...noFields, dottedOrder: order, root: true, name: 'agent', type: 'chain',
      endUs: startUs + 9_000, thread: 'x', failed: false } }
  await store.write({ tenant: 'acme', spans: [write], blocks: [block], files: [],
    timeToLiveS: new Map() })
  const handlers = queryHandlers({ store, env: virtualEnv(startMs), needs })
  const question: RunsQuestion = { tenant: 'acme', projects: [projectOf(project)], order: 'oldest',
    limit: 100, version: 1 }
  const ask = async (more: Partial<RunsQuestion>) => {
    const answer = await handlers.runs({ ...question, ...more })
    return (JSON.parse(Buffer.from(answer).toString()) as {
      runs: Readonly<Record<string, unknown>>[]
    }).runs
  }
  return { ask, asked, handlers }
}

const task = (name: string, more: object = {}) => ({ id: `task-${name}`, name, interrupts: [],
  error: null, result: { by: name }, ...more })

it('The tasks of each state led to the next one.', async () => {
  const { ask } = await opened([
    { id: 'c', parent: 'b', atMs: 5 },
    { id: 'b', parent: 'a', atMs: 3, tasks: [task('two'), task('three', { result: 'text' })] },
    { id: 'a', parent: null, source: 'input', atMs: 1, tasks: [task('__start__')] },
  ])
  const [root, two, three, ...others] = await ask({ trace: run })
  expect(others).toEqual([])
  expect(root).toMatchObject({ id: run, inputs: { q: 1 }, outputs: { done: true },
    extra: { metadata: { customer: 'c', thread_id: 'x', run_id: run } } })
  expect(two).toMatchObject({ name: 'two', inputs: { at: 'b' }, outputs: { by: 'two' },
    start_time: '2026-01-31T12:00:00.003000', end_time: '2026-01-31T12:00:00.005000',
    parent_run_id: run, parent_run_ids: [run], trace_id: run, session_id: project })
  expect(three).toMatchObject({ name: 'three', outputs: { output: 'text' } })
  expect(two!['id']).not.toBe(three!['id'])
})

it('Steps that began in one millisecond are in their order.', async () => {
  const names = Array.from({ length: 8 }, (_, step) => `step ${step}`)
  const { ask } = await opened([
    { id: 's8', parent: 's7', atMs: 5, step: 8 },
    ...names.map((name, step) => ({ id: `s${step}`, parent: step === 0 ? null : `s${step - 1}`,
      atMs: 3, step, tasks: [task(name)] })
    ).reverse(),
  ])
  const [, ...steps] = await ask({ trace: run })
  expect(steps.map(({ name }) => name)).toEqual(names)
})

it('A run that goes on from a question begins with the tasks that were left.', async () => {
  const { ask, asked } = await opened([
    { id: 'c', parent: 'b', atMs: 5,
      tasks: [task('asks', { interrupts: [{ value: 1 }], result: null }),
        task('fails', { error: '{"name":"TypeError","message":"x"}' })] },
    { id: 'b', parent: 'a', atMs: -60_000, run: 'earlier', tasks: [task('left')] },
    { id: 'a', parent: null, atMs: -70_000, run: 'earlier', tasks: [task('never')] },
  ])
  const [, ...steps] = await ask({ trace: run })
  expect(steps).toMatchObject([
    { name: 'left', start_time: '2026-01-31T12:00:00.000000' },
    { name: 'asks', outputs: { __interrupt__: [{ value: 1 }] }, status: 'success' },
    { name: 'fails', error: 'TypeError: x', status: 'error',
      end_time: '2026-01-31T12:00:00.009000' },
  ])
  expect(asked).toHaveLength(4)
})

it('Messages with tokens are spans of models, and those around them have the sum.', async () => {
  const message = (tokens: number) => ({ type: 'ai', content: 'hi',
    response_metadata: { model_name: 'm-1' },
    usage_metadata: { input_tokens: tokens, output_tokens: 1, total_tokens: tokens + 1,
      input_token_details: { cache_read: 1 } } })
  const { ask } = await opened([
    { id: 'b', parent: 'a', atMs: 5 },
    { id: 'a', parent: null, atMs: 1, source: 'input', tasks: [
      task('agent', {
        result: { messages: [message(2), message(5), { type: 'human', content: 'x' }] },
      }),
    ] },
  ])
  const spans = await ask({ trace: run })
  expect(spans.map((each) => [each['name'], each['run_type'], each['total_tokens']])).toEqual([
    ['agent', 'chain', 9],
    ['agent', 'chain', 9],
    ['m-1', 'llm', 3],
    ['m-1', 'llm', 6],
  ])
  expect(spans[2]).toMatchObject({ parent_run_id: spans[1]!['id'], outputs: {
    messages: [message(2)],
  } })
  expect(spans.map((each) => each['prompt_token_details'])).toEqual([{ cache_read: 2 }, {
    cache_read: 2,
  }, { cache_read: 1 }, { cache_read: 1 }])
  expect(await ask({ trace: run, type: 'llm', filter: 'gt(total_tokens, 4)' })).toHaveLength(1)
})

it('Calls of models have their cost, and each message is one call', async () => {
  const message = (id: string, model_name: string) => ({ type: 'ai', content: 'hi', id,
    response_metadata: { model_name, model_provider: 'own' },
    usage_metadata: { input_tokens: 100, output_tokens: 10, total_tokens: 110 } })
  const result = { messages: [message('1', 'm-1'), message('2', 'other')] }
  const { ask } = await opened([
    { id: 'c', parent: 'b', atMs: 9 },
    { id: 'b', parent: 'a', atMs: 5, tasks: [task('whole', { result })] },
    { id: 'a', parent: null, atMs: 1, source: 'input', tasks: [task('agent', { result })] },
  ], {
    prices: [{ match_pattern: '^m-1$', prompt_cost: 1e-6, completion_cost: 1e-5, provider: 'own' }],
  })
  const spans = await ask({ trace: run })
  expect(spans.map((each) => [each['name'], each['total_tokens'], each['total_cost']])).toEqual([
    ['agent', 220, '0.0002'],
    ['agent', 220, '0.0002'],
    ['m-1', 110, '0.0002'],
    ['other', 110, null],
    ['whole', 0, null],
  ])
})

it('A list of a project asks for what it shows, and a filter asks for nothing.', async () => {
  const { ask, asked } = await opened([{ id: 'a', parent: null, atMs: 1 }])
  expect(await ask({ select: ['name', 'thread_id'] })).toMatchObject([{ name: 'agent' }])
  expect(await ask({ filter: 'search("q")' })).toEqual([])
  expect(asked).toEqual([])
  expect(await ask({})).toMatchObject([{ inputs: { q: 1 } }])
  expect(asked).toEqual([`run {"tenant":"acme","thread":"x","run":"${run}"}`])
})

it('A run with a payload that a client sent is shown as that says.', async () => {
  const { ask, asked } = await opened([{ id: 'a', parent: null, atMs: 1 }], { isSent: true })
  expect(await ask({ trace: run })).toMatchObject([{ inputs: { sent: 1 } }])
  expect(asked).toEqual([])
})

it('What is gone, too long or no object is shown as far as it can be.', async () => {
  const shown = async (texts: object, kwargs?: string) => {
    const { ask } = await opened([], { texts, ...kwargs !== undefined && { kwargs } })
    return (await ask({ trace: run }))[0]
  }
  expect(await shown({ kwargs: null, metadata: null, outputs: null }))
    .toMatchObject({ inputs: {}, outputs: null })
  expect(await shown({ outputs: '[1]' }, '{"input":"text"}'))
    .toMatchObject({ inputs: { input: 'text' }, outputs: { output: [1] } })
  expect(
    await shown({ outputs: null, error: '{"error":"TypeError","message":"x"}' },
      '{"input":null,"command":{"resume":1}}'),
  )
    .toMatchObject({ inputs: { command: { resume: 1 } }, error: 'TypeError: x' })
})

it('Of a very long run the newest states are shown.', async () => {
  const { ask, asked } = await opened(Array.from({ length: 1_500 }, (_, n): StateIn => ({
    id: `s${n}`,
    parent: `s${n + 1}`,
    atMs: 1_500 - n,
    tasks: n === 0 ? [] : [task(`n${n}`)],
  })))
  const spans = await ask({ trace: run, select: ['name'] })
  expect(spans.length).toBeGreaterThan(900)
  expect(spans.length).toBeLessThan(1_050)
  expect(spans.some(({ name }) => name === 'n1')).toBe(true)
  expect(asked.length).toBeLessThan(20)
})

it('Of a run with long states as many are shown as fit.', async () => {
  const long = 'x'.repeat(1_000_000)
  const { ask, asked } = await opened(Array.from({ length: 50 }, (_, n): StateIn => ({
    id: `s${n}`,
    parent: `s${n + 1}`,
    atMs: 50 - n,
    tasks: n === 0 ? [] : [task(`n${n}`, {
      result: long,
    })],
  })))
  expect(await ask({ trace: run, select: ['name'] })).toHaveLength(9)
  expect(asked.length).toBeLessThan(10)
})

it('Another tenant finds no run, and no thread is asked.', async () => {
  const { ask, asked, handlers } = await opened([{ id: 'a', parent: null, atMs: 1 }])
  const others: Partial<RunsQuestion>[] = [{ trace: run }, { ids: [run] }, { parent: run }, {}]
  for (const more of others) expect(await ask({ tenant: 'other', ...more })).toEqual([])
  await expect(
    handlers.run({ tenant: 'other', projects: [projectOf(project)], id: run, version: 1 }),
  )
    .rejects.toMatchObject({ code: 'not_found' })
  expect(asked).toEqual([])
})

it('A run that has not ended is found by its id, with what it was given.', async () => {
  const id = '0193a6b0-0000-7000-8000-00000000000f'
  const { ask, handlers } = await opened([], { texts: { outputs: null },
    running: [{ project,
      run: { id, thread: 'x', assistant: 'a', graph: 'agent', startMs, endMs: null, failed: false,
        metadataJson: '{"customer":"c"}' } }] })
  const expected = { id, name: 'agent', status: 'pending', end_time: null, error: null,
    inputs: { q: 1 }, outputs: null, thread_id: 'x', session_id: project }
  expect(await ask({ ids: [run, id] })).toMatchObject([{ id: run }, expected])
  expect(await ask({ trace: id })).toMatchObject([expected])
  const answer = await handlers.run({ tenant: 'acme', id, version: 1,
    projects: [projectOf(project)] })
  expect(JSON.parse(Buffer.from(answer).toString())).toMatchObject(expected)
})

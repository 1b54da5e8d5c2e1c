/** Answers about statistics, charts and conversations, as clients see them. */

import { expect, it } from 'vitest'

import { noFields, termOf } from '../../../../src/platform/index.ts'
import type { SpanFields, SpanStore, SpanWrite } from '../../../../src/platform/index.ts'
import { queryHandlers } from '../../../../src/platform/threads/query-handlers.ts'
import { sealBlock } from '../../../../src/platform/spans/block.ts'
import type { RunsQuestion, SeriesQuestion } from '../../../../src/platform/query/question.ts'
import { virtualEnv } from '../../../support/env.ts'
import { memorySpans } from '../../../support/memory-spans.ts'
import { projectOf } from '../../../support/random-spans.ts'

const tenant = 'acme'
const project = projectOf('aaaaaaaa-0000-4000-8000-000000000001')
const other = projectOf('aaaaaaaa-0000-4000-8000-000000000002')
const nowMs = Date.UTC(2026, 10, 26, 12, 30)
const hourUs = 3600e6
/** Ten o'clock. */
const tenUs = Date.UTC(2026, 10, 26, 10) * 1000

interface Given {
  readonly no: number
  readonly startUs: number
  readonly trace?: number
  readonly fields?: Partial<SpanFields>
  readonly user?: string | number
  readonly tags?: readonly string[]
  readonly inputs?: string
  readonly outputs?: string
  readonly error?: string
}

const idOf = (no: number) => `bbbbbbbb-0000-4000-8000-${String(no).padStart(12, '0')}`

async function write(store: SpanStore, given: Given): Promise<void> {
  const { no, startUs, trace = no, fields = {}, user, tags = [], inputs, outputs, error } = given
  const json = (value: unknown) => Buffer.from(JSON.stringify(value))
  const place = { tenant, project: project.id, startUs, id: idOf(no), trace: idOf(trace),
    traceStartUs: startUs }
  const block = sealBlock(place.trace, startUs, [{ span: place.id, kind: 'post', members: {
    extra: json({ metadata: user === undefined ? {} : { user } }),
    tags: json(tags),
    ...inputs !== undefined && { inputs: json({ inputs }) },
    ...outputs !== undefined && { outputs: json({ outputs }) },
    ...error !== undefined && { error: json(error) },
  } }])
  const written: SpanWrite = { place, kind: 'post', arrivedUs: startUs, indexed: 0, block: block.id,
    terms: user === undefined
      ? []
      : [termOf.metadataKey('user'), termOf.metadata('user', String(user))],
    fields: { ...noFields, root: trace === no, parent: trace === no ? null : idOf(trace),
      name: 'agent', type: 'chain', endUs: startUs + 1e6, ...fields } }
  await store.write({ tenant, spans: [written], blocks: [block], files: [],
    timeToLiveS: new Map() })
}

const llm = { name: 'model', type: 'llm' }
const kinds = { promptTokens: { cache_read: 5, audio: 1 }, completionTokens: { audio: 1 },
  promptCost: { cache_read: 1e-7 } }

/** Two conversations, one of them with a model, and a lone trace that failed. */
async function opened() {
  const env = virtualEnv(nowMs)
  const memory = memorySpans(() => env.nowMs() * 1000)
  const opens: number[] = []
  const store: SpanStore = { ...memory, blocks: (place, ids) => {
    opens.push(ids.length)
    return memory.blocks(place, ids)
  } }
  await write(store, { no: 1, startUs: tenUs, fields: { thread: 'one' }, user: 'ada',
    tags: ['a', 'b'], inputs: 'first in', outputs: 'first out' })
  await write(store, { no: 2, startUs: tenUs, trace: 1,
    fields: { ...llm, totalTokens: 10, promptTokens: 8, completionTokens: 2, totalCost: 1.5e-7,
      firstTokenUs: tenUs + 5e5, kinds }, user: 'ada' })
  await write(store, { no: 3, startUs: tenUs + hourUs, fields: { thread: 'one', failed: true },
    user: 7, tags: ['a'], inputs: 'last in', outputs: 'last out', error: 'Boom' })
  await write(store, { no: 4, startUs: tenUs + 2 * hourUs, fields: { thread: 'two' } })
  await write(store, { no: 5, startUs: tenUs + 2 * hourUs + 1, fields: { endUs: null } })
  env.advance(1)
  const handlers = queryHandlers({ store, env })
  const question: RunsQuestion = { tenant, projects: [project], version: 1, order: 'newest',
    limit: 10 }
  return { env, store, handlers, question, opens }
}

const read = (bytes: Uint8Array) => JSON.parse(Buffer.from(bytes).toString()) as unknown

it('Statistics have every member.', async () => {
  const { handlers, question } = await opened()
  expect(read(await handlers.stats(question))).toEqual({
    run_count: 5,
    latency_p50: 1,
    latency_p99: 1,
    first_token_p50: 0.5,
    first_token_p99: 0.5,
    total_tokens: 10,
    prompt_tokens: 8,
    completion_tokens: 2,
    median_tokens: 10,
    tokens_p99: 10,
    prompt_tokens_p50: 8,
    prompt_tokens_p99: 8,
    completion_tokens_p50: 2,
    completion_tokens_p99: 2,
    last_run_start_time: '2026-11-26T12:00:00.000001',
    feedback_stats: {},
    run_facets: [
      { key: 'name', value: 'agent', n: 4, query: 'eq(name, "agent")' },
      { key: 'name', value: 'model', n: 1, query: 'eq(name, "model")' },
      { key: 'run_type', value: 'chain', n: 4, query: 'eq(run_type, "chain")' },
      { key: 'run_type', value: 'llm', n: 1, query: 'eq(run_type, "llm")' },
    ],
    error_rate: 0.2,
    streaming_rate: 0.2,
    total_cost: '0.00000015',
    prompt_cost: null,
    completion_cost: null,
    cost_p50: '0.00000015',
    cost_p99: '0.00000015',
    prompt_token_details: { cache_read: 5, audio: 1 },
    completion_token_details: { audio: 1 },
    prompt_cost_details: { cache_read: '0.0000001' },
    completion_cost_details: null,
  })
  expect(read(await handlers.stats({ ...question, select: ['run_count', 'error_rate', 'x'] })))
    .toEqual({ run_count: 5, error_rate: 0.2 })
  expect(read(await handlers.stats({ ...question, projects: [] })))
    .toMatchObject({ run_count: 0, latency_p50: null, error_rate: null, last_run_start_time: null })
  expect(read(await handlers.stats({ ...question, ids: [idOf(2)], select: ['run_count'] })))
    .toEqual({ run_count: 1 })
})

it('Groups are by name, type, tag or metadata, the largest first.', async () => {
  const { handlers, question, opens } = await opened()
  const by = async (attribute: 'name' | 'run_type' | 'tag' | 'metadata', maxGroups = 5) =>
    Object.entries(
      read(
        await handlers.stats({ ...question, select: ['run_count'],
          groupBy: { attribute, maxGroups, path: 'user' } }),
      ) as Record<string, object>,
    )
  expect(await by('name')).toEqual([['agent', { run_count: 4 }], ['model', { run_count: 1 }]])
  expect(await by('run_type', 1)).toEqual([['chain', { run_count: 4 }]])
  expect(opens).toEqual([])
  expect(await by('tag')).toEqual([['a', { run_count: 2 }], ['b', { run_count: 1 }]])
  // Integers come first in objects, whatever their order was.
  expect(await by('metadata')).toEqual([['7', { run_count: 1 }], ['ada', { run_count: 2 }]])
})

it('A project counts its traces, and the tokens of all their runs.', async () => {
  const { handlers } = await opened()
  const answer = read(await handlers.projectStats({ tenant, projects: [other, project] }))
  expect(answer).toMatchObject([{ run_count: 0 }, { run_count: 4, error_rate: 0.25,
    total_tokens: 10, prompt_token_details: { cache_read: 5, audio: 1 },
    last_run_start_time: '2026-11-26T12:00:00.000001' }])
})

it('Conversations are by their newest trace, page by page.', async () => {
  const { handlers, question } = await opened()
  const group = { ...question, form: 'group', offset: 0 } as const
  expect(read(await handlers.groups(group))).toMatchObject({ total: 2, groups: [
    { group_key: 'two', count: 1 },
    { group_key: 'one', count: 2, total_tokens: 10, total_cost: '0.00000015',
      first_inputs: 'first in', last_outputs: 'last out', filter: 'eq(thread_id, "one")',
      min_start_time: '2026-11-26T10:00:00.000000', max_start_time: '2026-11-26T11:00:00.000000' },
  ] })
  expect(read(await handlers.groups({ ...group, offset: 1 })))
    .toMatchObject({ total: 2, groups: [{ group_key: 'one' }] })
  expect(read(await handlers.groups({ ...group, offset: 2 }))).toEqual({ total: 2, groups: [] })
  expect(read(await handlers.groups({ ...group, form: 'groupStats' })))
    .toMatchObject({ group_count: 2, run_count: 3, total_tokens: 10 })
})

it('Threads of the second API are read to the end.', async () => {
  const { handlers, question, store } = await opened()
  const threads = { ...question, version: 2, limit: 1, offset: 0, form: 'threads' } as const
  const page = async (cursor?: string) =>
    read(await handlers.groups({ ...threads, ...cursor !== undefined && { cursor } })) as {
      readonly items: readonly Record<string, unknown>[]
      readonly next_cursor: string | null
    }
  const first = await page()
  expect(first.items).toMatchObject([{ thread_id: 'two', num_errored_turns: 0, last_error: null,
    last_inputs: null }])
  // What begins in between is on no later page.
  await write(store, { no: 6, startUs: tenUs + 2.2 * hourUs, fields: { thread: 'three' } })
  const second = await page(first.next_cursor!)
  expect(second).toMatchObject({ next_cursor: null,
    items: [{ thread_id: 'one', count: 2, num_errored_turns: 1, last_error: 'Boom',
      first_inputs: 'first in', last_inputs: 'last in', last_outputs: 'last out', total_tokens: 10,
      total_cost: 1.5e-7, total_token_details: { cache_read: 5, audio: 2 },
      total_cost_details: { cache_read: 1e-7 }, first_trace_id: idOf(1), last_trace_id: idOf(3),
      latency_p50: 1 }] })
})

it('Threads of the second API have the statistics that are selected.', async () => {
  const { handlers, question } = await opened()
  const v2 = { ...question, version: 2, offset: 0 } as const
  const all = { ...v2, form: 'groupStats',
    select: ['THREAD_COUNT', 'TRACE_COUNT', 'TOTAL_COST', 'LATENCY_P50', 'ERROR_RATE',
      'PROMPT_TOKEN_DETAILS', 'NOTHING'] } as const
  expect(read(await handlers.groups(all))).toEqual({ thread_count: 2, trace_count: 3,
    total_cost: 1.5e-7, latency_p50_seconds: 1, error_rate: 1 / 3,
    prompt_token_details: { raw: { cache_read: 5, audio: 1 } } })
  const one = { ...v2, form: 'threadStats', filter: 'eq(thread_id, "one")' } as const
  const select = ['TURNS', 'FIRST_START_TIME', 'LAST_START_TIME', 'LAST_END_TIME', 'TOTAL_TOKENS',
    'FEEDBACK_STATS']
  expect(read(await handlers.groups({ ...one, select }))).toEqual({ turns: 2, total_tokens: 10,
    first_start_time: '2026-11-26T10:00:00.000000Z', feedback_stats: {},
    last_start_time: '2026-11-26T11:00:00.000000Z', last_end_time: '2026-11-26T11:00:01.000000Z' })
  expect(read(await handlers.groups({ ...one, filter: 'eq(thread_id, "none")', select })))
    .toMatchObject({ turns: 0, total_tokens: 0, last_end_time: null })
})

it('Charts have a value for each bucket of each group.', async () => {
  const { handlers, question } = await opened()
  const asked = (strideUs: number, series: SeriesQuestion['series']): SeriesQuestion => ({ tenant,
    fromUs: tenUs, toUs: tenUs + 2.5 * hourUs, strideUs, series })
  const values = async (strideUs: number, metric: string,
    more: Partial<SeriesQuestion['series'][number]> = {}) => {
    const answer = await handlers.series(asked(strideUs, [{ id: 's', metric, question, ...more }]))
    return (read(answer) as { readonly data: readonly { group: string | null; value: unknown }[] })
      .data.map(({ group, value }) => (group === null ? value : [group, value]))
  }
  const roots = { question: { ...question, filter: 'eq(is_root, true)' } }
  for (const strideUs of [hourUs, hourUs / 2]) {
    const counts = await values(strideUs, 'run_count')
    expect(counts.filter((value) => value !== 0)).toEqual([2, 1, 2])
    const ofRoots = await values(strideUs, 'run_count', roots)
    expect(ofRoots.filter((value) => value !== 0)).toEqual([1, 1, 2])
    const tokens = await values(strideUs, 'total_tokens', roots)
    expect(tokens.filter((value) => value !== 0)).toEqual([10])
    const ofKinds = await values(strideUs, 'prompt_token_details', roots)
    expect(ofKinds.filter((value) => (value as readonly unknown[])[1] !== null))
      .toEqual([['cache_read', 5], ['audio', 1]])
  }
  expect(await values(hourUs, 'total_cost')).toEqual([1.5e-7, null, null])
  expect(await values(hourUs, 'latency_avg')).toEqual([1, 1, 1])
  expect(await values(2 * hourUs, 'run_count', { groupBy: { attribute: 'name', maxGroups: 9 } }))
    .toEqual([['agent', 2], ['agent', 2], ['model', 1], ['model', 0]])
  expect(
    await values(3 * hourUs, 'run_count', {
      groupBy: { attribute: 'metadata', path: 'user', maxGroups: 1 },
    }),
  ).toEqual([['ada', 2], ['ada', 0]])
  expect(
    await values(3 * hourUs, 'prompt_cost_details', {
      groupBy: { attribute: 'name', maxGroups: 9 },
    }),
  ).toEqual([['model: cache_read', 1e-7], ['model: cache_read', null]])
  await expect(values(hourUs, 'nothing')).rejects.toMatchObject({ code: 'invalid' })
})

it('A question that takes too long ends in a sentence.', async () => {
  const { store, question } = await opened()
  const env = virtualEnv(nowMs)
  const slow: SpanStore = { ...store, async *scan(plan, after) {
    for await (const slice of store.scan(plan, after)) {
      env.advance(31_000)
      yield slice
    }
  } }
  const handlers = queryHandlers({ store: slow, env })
  const tooMany = { code: 'invalid', message: expect.stringContaining('narrow the time') as string }
  await expect(handlers.stats(question)).rejects.toMatchObject(tooMany)
  await expect(handlers.stats({ ...question, filter: 'eq(status, "error")' })).rejects
    .toMatchObject(tooMany)
  await expect(handlers.groups({ ...question, form: 'group', offset: 0 })).rejects
    .toMatchObject(tooMany)
  expect(read(await handlers.projectStats({ tenant, projects: [project] }))).toEqual([null])
})

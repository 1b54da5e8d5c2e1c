/** Runs as both APIs show them. */

import { expect, it } from 'vitest'

import { noFields, tenantId } from '../../../../src/platform/index.ts'
import type { SpanFields, SpanStore, SpanWrite } from '../../../../src/platform/index.ts'
import { contentOf } from '../../../../src/platform/query/payload/content.ts'
import { JsonWriter } from '../../../../src/platform/query/runs/json-writer.ts'
import { runV2Fields } from '../../../../src/platform/query/runs/run-v2.ts'
import { previewOf } from '../../../../src/platform/query/runs/preview.ts'
import { queryHandlers } from '../../../../src/platform/threads/query-handlers.ts'
import { sealBlock } from '../../../../src/platform/spans/block.ts'
import type { PayloadPart } from '../../../../src/platform/spans/payload.ts'
import { termOf } from '../../../../src/platform/spans/term.ts'
import type { RunsQuestion } from '../../../../src/platform/query/question.ts'
import { answerFault } from '../../../support/contract-answer.ts'
import { virtualEnv } from '../../../support/env.ts'
import { memorySpans } from '../../../support/memory-spans.ts'
import { projectOf } from '../../../support/random-spans.ts'

const project = 'aaaaaaaa-0000-4000-8000-000000000001'
const root = '0193a6b0-0000-7000-8000-000000000001'
const child = '0193a6b0-0000-7000-8000-000000000002'
const startMs = Date.UTC(2026, 0, 31, 12)
const startUs = startMs * 1000 + 123
const rootOrder = `20260131T120000000123Z${root}`

const json = (text: string) => Buffer.from(text)
const place = (id: string) => ({ tenant: 'acme', project, startUs, id, trace: root,
  traceStartUs: startUs })

const rootFields: SpanFields = { ...noFields, dottedOrder: rootOrder, root: true, name: 'agent "1"',
  type: 'chain', thread: 't-1' }
const childFields: SpanFields = { ...noFields,
  dottedOrder: `${rootOrder}.${rootOrder.slice(0, 22)}${child}`, parent: root, root: false,
  name: 'model', type: 'llm', endUs: startUs + 1_500_000, firstTokenUs: startUs + 250_000,
  failed: true, promptTokens: 3, completionTokens: 4, totalTokens: 7, promptCost: 0.0000012,
  completionCost: 0.1, totalCost: 0.1000012, example: project,
  kinds: { promptTokens: { cache_read: 2 }, promptCost: { cache_read: 0.0000001 } } }

const parts: readonly PayloadPart[] = [
  { span: root, kind: 'post',
    members: { inputs: json('{"q":  1.0}'), extra: json('{"metadata":{"thread_id":"t-1"}}') } },
  { span: child, kind: 'post', members: {
    inputs: json('{"messages":[{"role":"system","content":"Be kind"},' +
      '{"role":"user","content":"Hi \\ud83d\\ude00"}]}'),
    outputs: json('{"text":"early"}'),
    tags: json('["beta"]'),
  } },
  { span: child, kind: 'patch',
    members: { outputs: json('{"text":"late"}'), error: json('"Boom"'),
      events: json('[{"name":"end"}]') } },
]

async function opened() {
  const memory = memorySpans()
  const asked: bigint[] = []
  const store: SpanStore = { ...memory, blocks: (where, ids) => {
    asked.push(...ids)
    return memory.blocks(where, ids)
  } }
  const block = sealBlock(root, startUs, parts)
  const write = (id: string, fields: SpanFields): SpanWrite => ({ place: place(id), kind: 'post',
    arrivedUs: startUs, fields, terms: [termOf.thread('t-1')], indexed: 1, block: block.id })
  await store.write({ tenant: 'acme', spans: [write(root, rootFields), write(child, childFields)],
    blocks: [block], files: [], timeToLiveS: new Map() })
  const mark = (id: string, score: number | null, value: string | null) => ({ place: place(child),
    row: { tenant: 'acme', id, span: child, trace: root, project, key: 'good', score, value,
      createdUs: startUs, modifiedUs: startUs, bodyJson: '{}' } })
  await store.putFeedback([mark(project, 1, null), mark(root, 0.5, 'yes')])
  const handlers = queryHandlers({ store, env: virtualEnv(startMs) })
  const question: RunsQuestion = { tenant: 'acme', projects: [projectOf(project)], order: 'oldest',
    limit: 100, version: 1 }
  return { store, handlers, question, asked }
}

const read = (answer: Uint8Array): unknown => JSON.parse(Buffer.from(answer).toString())
const appPath = `/o/${tenantId('acme')}/projects/p/${project}/r/`
const pathEnd = `?trace_id=${root}&start_time=2026-01-31T12:00:00.000123`

it('A run of the first API has every member.', async () => {
  const { handlers } = await opened()
  const run = read(
    await handlers.run({ tenant: 'acme', projects: [projectOf(project)], id: child, version: 1 }),
  )
  const unknown = ['inputs_s3_urls', 'outputs_s3_urls', 's3_urls', 'serialized', 'child_run_ids',
    'direct_child_run_ids', 'reference_dataset_id', 'completion_token_details',
    'completion_cost_details', 'price_model_id', 'in_dataset', 'last_queued_at', 'manifest_id',
    'manifest_s3_id', 'share_token', 'trace_tier', 'trace_first_received_at', 'ttl_seconds',
    'execution_order', 'thread_id']
  expect(run).toEqual({
    ...Object.fromEntries(unknown.map((name) => [name, null])),
    id: child,
    name: 'model',
    run_type: 'llm',
    status: 'error',
    start_time: '2026-01-31T12:00:00.000123',
    end_time: '2026-01-31T12:00:01.500123',
    first_token_time: '2026-01-31T12:00:00.250123',
    error: 'Boom',
    extra: {},
    events: [{ name: 'end' }],
    tags: ['beta'],
    inputs: {
      messages: [{ role: 'system', content: 'Be kind' }, { role: 'user', content: 'Hi 😀' }],
    },
    outputs: { text: 'late' },
    inputs_preview: 'Hi 😀',
    outputs_preview: 'late',
    parent_run_id: root,
    parent_run_ids: [root],
    trace_id: root,
    dotted_order: childFields.dottedOrder,
    session_id: project,
    reference_example_id: project,
    prompt_tokens: 3,
    completion_tokens: 4,
    total_tokens: 7,
    prompt_cost: '0.0000012',
    completion_cost: '0.1',
    total_cost: '0.1000012',
    prompt_token_details: { cache_read: 2 },
    prompt_cost_details: { cache_read: '0.0000001' },
    feedback_stats: { good: { n: 2, avg: 0.75, values: { yes: 1 } } },
    app_path: `${appPath}${child}${pathEnd}`,
    trace_upgrade: false,
  })
})

it('A run of the second API has the members that selects name.', async () => {
  const { handlers } = await opened()
  const run = read(
    await handlers.run({ tenant: 'acme', projects: [projectOf(project)], id: child, version: 2 }),
  )
  const unknown = ['reference_dataset_id', 'completion_token_details', 'completion_cost_details',
    'price_model_id', 'attachments', 'ls_user_id', 'thread_evaluation_time', 'last_queued_at',
    'share_url', 'thread_id', 'manifest']
  expect(run).toEqual({
    ...Object.fromEntries(unknown.map((name) => [name, null])),
    id: child,
    name: 'model',
    run_type: 'LLM',
    status: 'ERROR',
    start_time: '2026-01-31T12:00:00.000123Z',
    end_time: '2026-01-31T12:00:01.500123Z',
    first_token_time: '2026-01-31T12:00:00.250123Z',
    latency_seconds: 1.5,
    error: 'Boom',
    error_preview: 'Boom',
    extra: {},
    metadata: {},
    events: [{ name: 'end' }],
    inputs: expect.any(Object),
    inputs_preview: 'Hi 😀',
    outputs: { text: 'late' },
    outputs_preview: 'late',
    parent_run_ids: [root],
    project_id: project,
    trace_id: root,
    dotted_order: childFields.dottedOrder,
    is_root: false,
    reference_example_id: project,
    total_tokens: 7,
    prompt_tokens: 3,
    completion_tokens: 4,
    total_cost: 0.1000012,
    prompt_cost: 0.0000012,
    completion_cost: 0.1,
    prompt_token_details: { raw: { cache_read: 2 } },
    prompt_cost_details: { raw: { cache_read: 1e-7 } },
    tags: ['beta'],
    app_path: `${appPath}${child}${pathEnd}`,
    is_in_dataset: true,
    feedback_stats: {
      good: { n: 2, avg: 0.75, values: { yes: 1 }, min: 0.5, max: 1, stdev: Math.sqrt(0.125),
        errors: 0, comments: [], sources: [], contains_thread_feedback: false },
    },
  })
  expect(
    read(
      await handlers.run({ tenant: 'acme', projects: [projectOf(project)], id: root, version: 2,
        select: ['METADATA', 'IS_ROOT', 'THREAD_ID', 'STATUS', 'OUTPUTS', 'COLOUR'] }),
    ),
  ).toEqual({
    id: root,
    name: 'agent "1"',
    run_type: 'CHAIN',
    metadata: { thread_id: 't-1' },
    is_root: true,
    thread_id: 't-1',
    status: 'PENDING',
    outputs: null,
  })
})

it('The first API shows tokens and costs of what is below a run, the second if it is asked to.',
  async () => {
    const { handlers, question } = await opened()
    const select = ['total_tokens', 'total_cost', 'first_token_time']
    const root1 = { total_tokens: 7, total_cost: '0.1000012',
      first_token_time: '2026-01-31T12:00:00.250123' }
    expect(
      read(
        await handlers.run({ tenant: 'acme', projects: [projectOf(project)], id: root, version: 1,
          select }),
      ),
    )
      .toMatchObject(root1)
    expect(read(await handlers.runs({ ...question, rootsOnly: true, select })))
      .toMatchObject({ runs: [root1] })
    const selected = read(await handlers.runs({ ...question, select: ['prompt_tokens'] })) as {
      readonly runs: readonly object[]
    }
    expect(selected.runs[1]).toMatchObject({ prompt_tokens: 3,
      prompt_token_details: { cache_read: 2 } })
    expect(selected.runs[1]).not.toHaveProperty('prompt_cost_details')
    const v2 = { ...question, version: 2, rootsOnly: true, select: ['TOTAL_TOKENS'] } as const
    expect(read(await handlers.runs(v2))).toMatchObject({ items: [{ total_tokens: null }] })
    expect(read(await handlers.runs({ ...v2, subtreeUsage: true })))
      .toMatchObject({ items: [{ total_tokens: 7 }] })
    expect(
      read(await handlers.runs({ ...question, rootsOnly: true, select: ['prompt_token_details'] })),
    ).toMatchObject({
      runs: [{ prompt_token_details: { cache_read: 2 } }],
    })
    expect(
      read(await handlers.runs({ ...v2, subtreeUsage: true, select: ['PROMPT_COST_DETAILS'] })),
    ).toMatchObject({
      items: [{ prompt_cost_details: { raw: { cache_read: 1e-7 } } }],
    })
  })

it('Payloads are put into answers as they were sent.', async () => {
  const { handlers } = await opened()
  const answer = await handlers.run({ tenant: 'acme', projects: [projectOf(project)], id: root,
    version: 1, select: ['inputs'] })
  expect(Buffer.from(answer).toString()).toContain('"inputs":{"q":  1.0}')
})

it('Blocks are opened once a page, and only for what is in them.', async () => {
  const { handlers, question, asked } = await opened()
  await handlers.runs({ ...question, select: ['id', 'feedback_stats', 'total_cost'] })
  expect(asked).toEqual([])
  await handlers.runs({ ...question, select: ['inputs'], filter: 'search("be kind")' })
  expect(asked).toHaveLength(1)
})

it('A span without its block is shown without payload.', async () => {
  const { store, question } = await opened()
  const handlers = queryHandlers({ store: { ...store, blocks: async () => new Map() },
    env: virtualEnv(startMs) })
  expect(read(await handlers.runs(question))).toMatchObject({ runs: [
    { id: root, inputs: {}, outputs: null },
    { id: child, status: 'error', error: null },
  ] })
})

it('An answer has a buffer of its own.', async () => {
  const { handlers, question } = await opened()
  const answer = await handlers.runs(question)
  expect(answer.byteLength).toBe(answer.buffer.byteLength)
})

it('Traces are roots with what their spans add up to.', async () => {
  const { handlers, question } = await opened()
  expect(read(await handlers.traces({ ...question, version: 2, select: ['NAME'] }))).toEqual({
    items: [{ root_run: { id: root, name: 'agent "1"', run_type: 'CHAIN' }, trace_aggregates: {
      first_token_time: '2026-01-31T12:00:00.250123Z',
      total_tokens: 7,
      total_cost: 0.1000012,
    } }],
    next_cursor: null,
  })
  const trace = await handlers.trace({ ...question, version: 2, trace: root, select: [] })
  expect(read(trace)).toMatchObject({ items: [{ id: root }, { id: child }] })
})

it('An answer that is too long is refused.', () => {
  const writer = new JsonWriter(100_000)
  writer.add('x'.repeat(90_000))
  expect(() => {
    writer.add(Buffer.alloc(10_001))
  }).toThrow('select fewer')
})

it('Bytes are copied into an answer, at any length.', () => {
  const writer = new JsonWriter()
  const bytes = Buffer.alloc(400_000, 'b')
  writer.add('a'.repeat(20_000))
  writer.add(bytes)
  bytes.fill('x')
  writer.add('c')
  expect(Buffer.from(writer.done()).toString())
    .toBe(`${'a'.repeat(20_000)}${'b'.repeat(400_000)}c`)
})

it.each([
  [{ a: 'only' }, 'only'],
  ['bare', 'bare'],
  [{ a: 1, b: 2 }, '{"a":1,"b":2}'],
  [{ messages: [[{ kwargs: { content: 'nested' } }]] }, 'nested'],
  [{ input: 'x'.repeat(300) }, `${'x'.repeat(250)}…`],
  [{ input: `${'x'.repeat(249)}😀 and more` }, `${'x'.repeat(249)}…`],
  [null, null],
])('The preview of %j is %j.', (value, preview) => {
  const content = contentOf({ inputs: json(JSON.stringify(value)) })
  expect(previewOf(content, 'inputs')).toBe(preview)
})

it('Answers of both APIs are as the contract has them.', async () => {
  const { handlers, question } = await opened()
  const second: RunsQuestion = { ...question, version: 2, select: Object.keys(runV2Fields) }
  const one = { tenant: 'acme', projects: [projectOf(project)], id: child }
  const answers = {
    'GET /api/v1/runs/x': handlers.run({ ...one, version: 1 }),
    'GET /api/v2/runs/x': handlers.run({ ...one, version: 2 }),
    'POST /api/v1/runs/query': handlers.runs(question),
    'GET /api/v1/public/x/runs': handlers.runs({ ...question, isList: true }),
    'POST /api/v2/runs/query': handlers.runs(second),
    'POST /api/v2/traces/query': handlers.traces(second),
    'GET /api/v2/threads/t-1/traces': handlers.traces(second),
    'GET /api/v2/traces/x/runs': handlers.trace({ ...second, trace: root }),
    'POST /api/v1/runs/stats': handlers.stats(question),
    'POST /api/v1/runs/group': handlers.groups({ ...question, form: 'group', offset: 0 }),
    'POST /api/v1/runs/group/stats': handlers.groups({ ...question, form: 'groupStats',
      offset: 0 }),
    'POST /api/v2/threads/query': handlers.groups({ ...second, form: 'threads', offset: 0 }),
  }
  for (const [route, answer] of Object.entries(answers)) {
    const [method = '', path = ''] = route.split(' ')
    expect(await answerFault(method, path, 200, async () => read(await answer)), route)
      .toBeUndefined()
  }
})

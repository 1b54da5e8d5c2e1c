/** Operations give the same spans in whatever order they come, and however often. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { segmentOf } from '../../../../src/platform/spans/dotted-order.ts'
import { queryHandlers } from '../../../../src/platform/threads/query-handlers.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { multipartOf, partsOfRuns } from '../../../support/ingest-bodies.ts'
import type { ClientOperation, ClientRun } from '../../../support/ingest-bodies.ts'
import { otlpBytes } from '../../../support/otlp-message.ts'
import { projectOf } from '../../../support/random-spans.ts'
import { ingestHouse, projectId } from './ingest-house.ts'
import type { IngestHouse } from './ingest-house.ts'

const startUs = Date.UTC(2026, 10, 26) * 1000
const types = ['chain', 'llm', 'tool', 'retriever']

/** What varies between spans. */
const spanShape = fc.record({
  parent: fc.nat({ max: 5 }),
  type: fc.constantFrom(...types),
  isPython: fc.boolean(),
  error: fc.option(fc.string({ minLength: 1 })),
  tags: fc.array(fc.string(), { maxLength: 3 }),
  metadata: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 4 }),
  inputs: fc.jsonValue({ maxDepth: 2 }),
  outputs: fc.jsonValue({ maxDepth: 2 }),
  tokens: fc.nat({ max: 1000 }),
})
type SpanShape = typeof spanShape extends fc.Arbitrary<infer Shape> ? Shape : never

const traces = fc.record({
  number: fc.nat({ max: 1_000_000 }),
  spans: fc.array(spanShape, { minLength: 7, maxLength: 7 }),
  /** Where each operation goes, the repeated ones behind the others. */
  ranks: fc.array(fc.nat(), { minLength: 18, maxLength: 18 }),
  repeated: fc.array(fc.nat({ max: 13 }), { minLength: 4, maxLength: 4 }),
  sizes: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 18, maxLength: 18 }),
})

/** A post and a patch of each span, in the way of its client. */
function operationsOf(number: number, shapes: readonly SpanShape[]): ClientOperation[] {
  const id = (n: number) =>
    `${String(number).padStart(8, '0')}-0000-4000-8000-${String(n).padStart(12, '0')}`
  const orders: string[] = []
  return shapes.flatMap((shape, n) => {
    const parent = n === 0 ? null : shape.parent % n
    const own = segmentOf(startUs + number * 1000 + n, id(n))
    orders.push(parent === null ? own : `${orders[parent]}.${own}`)
    const known = { id: id(n), trace_id: id(0), dotted_order: orders[n], name: `span ${n}`,
      run_type: shape.type, session_name: 'demo', tags: shape.tags,
      parent_run_id: parent === null ? null : id(parent), extra: { metadata: shape.metadata } }
    const nothing = { error: null, outputs: {}, events: [], reference_example_id: null }
    const post: ClientRun = { ...known, start_time: (startUs + number * 1000 + n) / 1000,
      inputs: shape.inputs, revision_id: `r${n}`, ...shape.isPython && nothing }
    const usage = {
      usage_metadata: { input_tokens: shape.tokens, total_tokens: shape.tokens,
        input_token_details: { cache_read: shape.tokens } },
    }
    const patch: ClientRun = { ...known, end_time: startUs / 1000 + number + 500 + n,
      outputs: shape.type === 'llm' ? usage : shape.outputs, error: shape.error,
      events: [{ name: 'new_token', time: startUs / 1000 + 1 }],
      ...shape.isPython && { inputs: null, revision_id: null } }
    return [{ kind: 'post', run: post }, { kind: 'patch', run: patch }]
  })
}

async function send(house: IngestHouse, operations: readonly ClientOperation[],
  nth: number): Promise<void> {
  if (nth % 3 < 2) {
    const style = nth % 3 === 0 ? 'js' : 'python'
    await house.send(multipartOf(partsOfRuns(operations), style))
  } else {
    const runs = (kind: 'post' | 'patch') =>
      operations.filter((one) => one.kind === kind).map(({ run }) => run)
    const body = Buffer.from(JSON.stringify({ post: runs('post'), patch: runs('patch') }))
    await house.send({ form: 'batch', body })
  }
}

/** Spans without what depends on how they were sent: blocks, arrivals, and the order of terms. */
async function comparable(house: IngestHouse): Promise<unknown> {
  return [...await house.spans()].map(([, { blocks, terms, arrivedUs: _, ...span }]) => {
    expect(blocks.length).toBeGreaterThan(0)
    return { ...span, terms: [...terms].sort() }
  })
}

it('Shuffled, repeated and cut into requests, operations say the same.', async () => {
  await expectAlways(fc.asyncProperty(traces, async ({ number, spans, ranks, repeated, sizes }) => {
    const operations = operationsOf(number, spans)
    const inOrder = ingestHouse()
    await send(inOrder, operations, 0)
    const expected = await comparable(inOrder)
    expect(expected).toHaveLength(7)

    const all = [...operations, ...repeated.map((n) => operations[n]!)]
    const shuffled = all.map((operation, n) => ({ operation, rank: ranks[n]! }))
      .toSorted((a, b) => a.rank - b.rank).map(({ operation }) => operation)
    const house = ingestHouse()
    for (let [from, nth] = [0, 0]; from < shuffled.length; from += sizes[nth]!, nth++) {
      await send(house, shuffled.slice(from, from + sizes[nth]!), nth)
    }
    expect(await comparable(house)).toEqual(expected)
  }), { share: 10 })
})

const wires = ['multipart', 'batch', 'protobuf', 'json'] as const
type Wire = typeof wires[number]

/** The numbers with which `send` takes the wires of the client. */
const ofClient: Partial<Readonly<Record<Wire, number>>> = { multipart: 0, batch: 2 }

/** A span of OpenTelemetry that says the same as a post and its patch. */
function otlpSpanOf({ run: post }: ClientOperation, { run: patch }: ClientOperation) {
  const metadata = (post['extra'] as { readonly metadata: object }).metadata
  const texts: Record<string, string> = { 'langsmith.span.id': post.id,
    'langsmith.trace.id': String(post['trace_id']), 'langsmith.span.kind': String(post['run_type']),
    'gen_ai.prompt': JSON.stringify(post['inputs']),
    'gen_ai.completion': JSON.stringify(patch['outputs']), metadata: JSON.stringify(metadata) }
  if (post['parent_run_id'] !== null)
    texts['langsmith.span.parent_id'] = String(post['parent_run_id'])
  const nanos = (ms: unknown) => `${Math.round(Number(ms) * 1_000)}000`
  const failed = typeof patch['error'] === 'string'
  return { texts, tags: post['tags'] as readonly string[], name: String(post['name']),
    traceId: String(post['trace_id']).replaceAll('-', ''),
    spanId: post.id.replaceAll('-', '').slice(16), startTimeUnixNano: nanos(post['start_time']),
    endTimeUnixNano: nanos(patch['end_time']),
    status: { code: failed ? 2 : 0, message: failed ? String(patch['error']) : '' } }
}

function otlpBodyOf(spans: readonly ReturnType<typeof otlpSpanOf>[], wire: Wire): Buffer {
  if (wire === 'json') {
    return Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{
      spans: spans.map(({ texts, tags, ...span }) => ({ ...span, attributes: [
        ...Object.entries(texts).map(([key, stringValue]) => ({ key, value: { stringValue } })),
        { key: 'langsmith.span.tags',
          value: { arrayValue: { values: tags.map((stringValue) => ({ stringValue })) } } },
      ] })),
    }] }] }))
  }
  const text = (value: string) => ({ value: { $case: 'stringValue', value } as const })
  return Buffer.from(otlpBytes({ scopeSpans: [{ spans: spans.map(({ texts, tags, ...span }) => ({
    ...span,
    traceId: Buffer.from(span.traceId, 'hex'),
    spanId: Buffer.from(span.spanId, 'hex'),
    attributes: [...Object.entries(texts).map(([key, value]) => ({ key, value: text(value) })), {
      key: 'langsmith.span.tags',
      value: { value: { $case: 'arrayValue', value: { values: tags.map(text) } } },
    }],
  })) }] }))
}

/** The whole trace, as the first API shows it, without what only OpenTelemetry says. */
async function readTrace({ store, env }: IngestHouse, trace: string): Promise<unknown> {
  const answer = await queryHandlers({ store, env }).runs({ tenant: 'acme', trace, version: 1,
    projects: [projectOf(projectId('demo'))], order: 'oldest', limit: 100 })
  const { runs } = JSON.parse(Buffer.from(answer).toString()) as {
    runs: { extra: { metadata: object } }[]
  }
  return runs.map(({ extra: { metadata }, ...run }) => ({ ...run,
    metadata: Object.fromEntries(Object.entries(metadata)
      .filter(([key]) => !key.startsWith('OTEL_'))) })
  )
}

const cutTraces = fc.record({ number: fc.nat({ max: 1_000_000 }),
  spans: fc.array(spanShape, { minLength: 7, maxLength: 7 }),
  ranks: fc.array(fc.nat(), { minLength: 7, maxLength: 7 }),
  sizes: fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 7, maxLength: 7 }) })

it('A trace reads back equal, by any wire, in any order, cut into any requests.', async () => {
  await expectAlways(fc.asyncProperty(cutTraces, async ({ number, spans, ranks, sizes }) => {
    const shapes = spans.map((shape) => ({ ...shape, error: shape.error || null, isPython: false,
      tags: shape.tags.map((tag) => `t${tag.trim()}`), inputs: { value: shape.inputs },
      outputs: { value: shape.outputs } })
    )
    // What only the client can send would differ.
    const operations = operationsOf(number, shapes).map(({ kind, run }): ClientOperation => {
      const { events: _1, revision_id: _2, ...rest } = run
      return { kind, run: rest as ClientRun }
    })
    const [{ run: { id: trace } }] = operations as [ClientOperation]
    const units = Array.from({ length: 7 }, (_, n) => operations.slice(2 * n, 2 * n + 2))
    const shuffled = units.map((unit, n) => ({ unit, rank: ranks[n]! }))
      .toSorted((a, b) => a.rank - b.rank).map(({ unit }) => unit)
    const sendBy = async (house: IngestHouse, wire: Wire, some: readonly ClientOperation[][]) => {
      const nth = ofClient[wire]
      if (nth !== undefined) return void await send(house, some.flat().reverse(), nth)
      await house.send({ form: 'otlp', project: 'demo',
        contentType: wire === 'json' ? 'application/json' : 'application/x-protobuf',
        body: otlpBodyOf(some.map(([post, patch]) => otlpSpanOf(post!, patch!)), wire) })
    }
    const atOnce = ingestHouse()
    await sendBy(atOnce, 'multipart', units)
    const expected = await readTrace(atOnce, trace)
    expect(expected).toHaveLength(7)
    for (const wire of wires) {
      const house = ingestHouse()
      for (let [from, nth] = [0, 0]; from < shuffled.length; from += sizes[nth]!, nth++) {
        await sendBy(house, wire, shuffled.slice(from, from + sizes[nth]!))
      }
      expect(await readTrace(house, trace)).toEqual(expected)
    }
  }), { share: 10 })
})

/** Random traces with few different values, so that random filters find some of them. */

import fc from 'fast-check'

import { termsOfSpan } from '../../src/platform/ingest/terms-of-span.ts'
import { sealBlock } from '../../src/platform/spans/block.ts'
import type { PayloadPart } from '../../src/platform/spans/payload.ts'
import { noFields } from '../../src/platform/index.ts'
import type { Project, SpanFields, SpansOfRequest, SpanWrite,
  Uuid } from '../../src/platform/index.ts'

/** What a random span is made of. */
interface Draft {
  readonly name: string
  readonly type: string
  readonly offsetMs: number
  readonly lastsMs: number | null
  readonly error: string | null
  readonly tokens: number | null
  readonly cost: number | null
  readonly tags: readonly string[]
  readonly metadata: Readonly<Record<string, string | number | boolean>>
  readonly nested: boolean
  readonly inputs: Readonly<Record<string, unknown>>
  readonly outputs: Readonly<Record<string, unknown>> | null
  readonly score: number | null
  readonly patched: boolean
}

const scalar = fc.constantFrom<string | number | boolean>('a', 'b', '1', 1, 2.5, true)
const inner = fc.record({ text: fc.constantFrom('hello World', 'Äpfel "q"', 'x\ny'),
  n: fc.constantFrom(1, 2, 3) })

const draft: fc.Arbitrary<Draft> = fc.record({
  name: fc.constantFrom('agent', 'model', 'tool "x"'),
  type: fc.constantFrom('chain', 'llm', 'tool'),
  offsetMs: fc.integer({ min: 0, max: 50 }),
  lastsMs: fc.option(fc.integer({ min: 0, max: 3000 })),
  error: fc.option(fc.constantFrom('Boom', 'time out'), { freq: 3 }),
  tokens: fc.option(fc.integer({ min: 0, max: 9 })),
  cost: fc.option(fc.constantFrom(0, 0.1, 0.002)),
  tags: fc.uniqueArray(fc.constantFrom('t1', 't2', 'graph:step:1'), { maxLength: 2 }),
  metadata: fc.dictionary(fc.constantFrom('k', 'user', 'env', 'langgraph_node'), scalar),
  nested: fc.boolean(),
  inputs: fc.dictionary(fc.constantFrom('q', 'deep', 'k'), fc.oneof(scalar, inner)),
  outputs: fc.option(
    fc.dictionary(fc.constantFrom('a', 'k'), fc.oneof(scalar, fc.array(inner, { maxLength: 2 }))),
  ),
  score: fc.option(fc.constantFrom(0, 0.5, 1), { freq: 3 }),
  patched: fc.boolean(),
})

const traceDraft = fc.record({
  project: fc.nat({ max: 1 }),
  startMs: fc.integer({ min: 0, max: 40 }),
  thread: fc.option(fc.constantFrom('thread-1', 'thread-2')),
  example: fc.option(fc.constantFrom(exampleId(1), exampleId(2))),
  spans: fc.array(draft, { minLength: 1, maxLength: 6 }),
})

/** Ids of examples that random spans have. */
export function exampleId(index: number): Uuid {
  return `eeeeeeee-0000-4000-8000-${String(index).padStart(12, '0')}`
}

/** A time at which all random spans have begun. */
export const randomSpansBeganMs = Date.UTC(2026, 10, 26, 12)

/** A project that lives for long. */
export function projectOf(id: Uuid, retentionDays = 14): Project {
  const atMs = randomSpansBeganMs
  return { id, name: `project ${id}`, startMs: atMs, endMs: null, description: null,
    extraJson: '{}', referenceDatasetId: null, retentionDays, longLived: false, createdMs: atMs,
    modifiedMs: atMs, restJson: '{}' }
}

/** What a store is given, and what it is asked for. */
export interface RandomSpans {
  readonly tenant: string
  readonly projects: readonly Project[]
  readonly requests: readonly SpansOfRequest[]
  readonly feedback: readonly Parameters<
    import('../../src/platform/index.ts').FeedbackPort['putFeedback']
  >[0][number][]
}

/** Random traces. The same seed makes the same ones; ids depend on `tenant`. */
export function randomSpans(tenant: string, traces: number, seed: number): RandomSpans {
  const projects = [projectOf(idOf(tenant, 'p', 0)), projectOf(idOf(tenant, 'p', 1))]
  const drafts = fc.sample(traceDraft, { numRuns: traces, seed })
  const feedback: RandomSpans['feedback'][number][] = []
  const requests = drafts.map((each, traceNo) => {
    const { id: project } = projects[each.project]!
    const ids = each.spans.map((_, spanNo) => idOf(tenant, `s${traceNo}`, spanNo))
    const trace = ids[0]!
    const traceStartUs = (randomSpansBeganMs + each.startMs) * 1000
    const writes: SpanWrite[] = []
    const parts: PayloadPart[] = []
    for (const [spanNo, span] of each.spans.entries()) {
      const id = ids[spanNo]!
      const startUs = traceStartUs + (spanNo === 0 ? 0 : span.offsetMs * 1000)
      const place = { tenant, project, startUs, id, trace, traceStartUs }
      const fields = fieldsOf(span, { startUs, id, trace, isRoot: spanNo === 0, parent: trace })
      const common = { ...fields, thread: each.thread, example: each.example }
      const { terms, indexed } = termsOf(span, each.thread, each.example)
      const ended = { endUs: fields.endUs, failed: fields.failed, totalTokens: fields.totalTokens,
        totalCost: fields.totalCost }
      const arrivedUs = startUs + 1
      writes.push({ place, kind: 'post', arrivedUs, terms, indexed, block: 0n, fields: span.patched
        ? { ...common, endUs: null, failed: null, totalTokens: null, totalCost: null }
        : common })
      if (span.patched) {
        writes.push({ place, kind: 'patch', arrivedUs: arrivedUs + 1, terms: terms.slice(0, 1),
          indexed: 1, block: 0n, fields: { ...noFields, ...ended } })
      }
      parts.push(...payloadsOf(span, id))
      if (span.score !== null) feedback.push(feedbackOn(place, span.score))
    }
    const block = sealBlock(trace, traceStartUs, parts)
    return { tenant, blocks: [block], files: [], timeToLiveS: new Map([[project, 1e6]]),
      spans: writes.map((write) => ({ ...write, block: block.id })) }
  })
  return { tenant, projects, requests, feedback }
}

function idOf(tenant: string, kind: string, index: number): Uuid {
  const digits = Buffer.from(`${kind}${index}:${tenant}`).toString('hex').padEnd(32, '0')
  return digits.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function fieldsOf(span: Draft,
  at: { startUs: number; id: Uuid; trace: Uuid; isRoot: boolean; parent: Uuid }): SpanFields {
  const order = (us: number, id: Uuid) =>
    `${new Date(us / 1000).toISOString().replaceAll(/[-:.Z]/g, '')}000Z${id}`
  return { ...noFields, dottedOrder: at.isRoot
    ? order(at.startUs, at.id)
    : `${order(at.startUs, at.trace)}.${order(at.startUs, at.id)}`,
    parent: at.isRoot ? null : at.parent, root: at.isRoot, name: span.name, type: span.type,
    endUs: span.lastsMs === null ? null : at.startUs + span.lastsMs * 1000,
    failed: span.error === null ? null : true, totalTokens: span.tokens, totalCost: span.cost }
}

function termsOf(span: Draft, thread: string | null, example: Uuid | null) {
  const scalars = Object.entries(span.metadata).map(([key, value]) => [key, String(value)] as const)
  const nested = span.nested ? [['nest', null] as const] : []
  return termsOfSpan({ name: span.name, failed: span.error === null ? null : true, thread, example,
    tags: span.tags, metadata: new Map<string, string | null>([...scalars, ...nested]) })
}

function payloadsOf(span: Draft, id: Uuid): readonly PayloadPart[] {
  const json = (value: unknown) => Buffer.from(JSON.stringify(value))
  const metadata = span.nested ? { ...span.metadata, nest: { a: [1, { b: 2 }] } } : span.metadata
  const post: PayloadPart = { span: id, kind: 'post',
    members: { inputs: json(span.inputs), extra: json({ metadata }), tags: json(span.tags) } }
  const outputs = span.outputs === null ? {} : { outputs: json(span.outputs) }
  const error = span.error === null ? {} : { error: json(span.error) }
  return [post, { span: id, kind: 'patch', members: { ...outputs, ...error } }]
}

function feedbackOn(place: SpanWrite['place'], score: number): RandomSpans['feedback'][number] {
  const { tenant, id: span, trace, project, startUs } = place
  const id = `f${span.slice(1)}`
  return { place,
    row: { tenant, id, span, trace, project, key: score > 0.4 ? 'good' : 'bad', score,
      value: score === 1 ? 'yes' : null, createdUs: startUs, modifiedUs: startUs, bodyJson: '{}' } }
}

/** Random histories of traces, and what they must come to. */

import fc from 'fast-check'

import { noFields, termOf } from '../../src/platform/index.ts'
import type { Block, BlockId, FeedbackMark, Plan, ScanMark, SpanFields, SpanHead, SpanPlace,
  SpansOfRequest, SpanStore, SpanWrite, Term, Uuid } from '../../src/platform/index.ts'
import { foldHead } from '../../src/platform/spans/fold.ts'
import { someKinds } from '../support/some-kinds.ts'

/** Operations of one tenant, by request. */
export interface History {
  readonly tenant: string
  readonly requests: readonly SpansOfRequest[]
}

/** 2026-11-26, 12:00, in microseconds. */
export const noonUs = 1_795_694_400_000_000

/** A UUID from a small number, the same for all tenants and projects. */
export function uuidOf(kind: number, number: number): Uuid {
  const [a, b] = [kind, number].map((part) => part.toString(16).padStart(8, '0'))
  return `${a}-0000-7000-8000-0000${b}`
}

const names = ['plan', 'search', 'answer']
/** Terms that are worth an index, and terms that are not. */
const indexedTerms = [termOf.error, ...names.map(termOf.name), termOf.tag('a'), termOf.tag('b'),
  termOf.metadata('user', 'u1'), termOf.metadata('user', 'u2')]
const plainTerms = [termOf.tag('graph:step:1'), termOf.metadata('langgraph_step', '1')]
const anAmount = fc.option(fc.nat(2_000))
const aCost = fc.option(fc.constantFrom(0, 0.25, 1.5))

/** What an operation says, besides where its span is in its trace. */
const someFields: fc.Arbitrary<Partial<SpanFields>> = fc.record({
  name: fc.option(fc.constantFrom(...names)),
  type: fc.option(fc.constantFrom('chain', 'llm', 'tool')),
  endUs: fc.option(fc.integer({ min: noonUs, max: noonUs + 9e6 })),
  firstTokenUs: fc.option(fc.integer({ min: noonUs, max: noonUs + 9e6 })),
  failed: fc.option(fc.boolean()),
  promptTokens: anAmount,
  completionTokens: anAmount,
  totalTokens: anAmount,
  promptCost: aCost,
  completionCost: aCost,
  totalCost: aCost,
  kinds: someKinds(),
  thread: fc.option(fc.constantFrom('a thread', uuidOf(9, 1), uuidOf(9, 2).toUpperCase())),
  example: fc.option(fc.constantFrom(uuidOf(8, 1), uuidOf(8, 2))),
})

interface Shape {
  /** Number of the trace, and of the span in it; 0 is the root. */
  readonly trace: number
  readonly span: number
  readonly project: number
  readonly kind: 'post' | 'patch'
  readonly fields: Partial<SpanFields>
  readonly saysOrder: boolean
  readonly indexed: readonly Term[]
  readonly plain: readonly Term[]
  readonly hasBlock: boolean
}

const aShape: fc.Arbitrary<Shape> = fc.record({
  trace: fc.nat(2),
  span: fc.nat(3),
  project: fc.nat(1),
  kind: fc.constantFrom('post' as const, 'patch' as const),
  fields: someFields,
  saysOrder: fc.boolean(),
  indexed: fc.subarray(indexedTerms, { maxLength: 4 }),
  plain: fc.subarray(plainTerms),
  hasBlock: fc.boolean(),
})

/** Operations in the order of their arrival, written shuffled, repeated and cut into requests. */
export function aHistory(tenant: string): fc.Arbitrary<History> {
  return fc.array(aShape, { minLength: 20, maxLength: 80 }).chain((shapes) => {
    const operations = shapes.map((shape, index) => operationOf(tenant, shape, index))
    return fc.record({
      order: fc.shuffledSubarray(operations, { minLength: operations.length }),
      again: fc.subarray(operations),
      sizes: fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 60, maxLength: 60 }),
    }).map(({ order, again, sizes }) => ({ tenant,
      requests: requestsOf(tenant, [...order, ...again], sizes) })
    )
  })
}

/** The place of a span. Spans of a trace start a second apart, the first two at once. */
export function placeOf(tenant: string,
  { trace, span, project }: { readonly trace: number; readonly span: number;
    readonly project: number }): SpanPlace {
  const traceStartUs = noonUs + trace * 3600e6
  return { tenant, project: uuidOf(1, project), trace: uuidOf(2, trace * 65_536), traceStartUs,
    startUs: traceStartUs + Math.max(0, span - 1) * 1_000_001,
    id: uuidOf(2, trace * 65_536 + span * 256 + project) }
}

/** An operation that says little. */
export function aPost(place: SpanPlace, more: Partial<SpanWrite> = {}): SpanWrite {
  return { place, kind: 'post', arrivedUs: noonUs, terms: [], indexed: 0, block: null, ...more,
    fields: { ...noFields, root: place.id === place.trace, ...more.fields } }
}

function operationOf(tenant: string, shape: Shape, index: number): SpanWrite {
  const place = placeOf(tenant, shape)
  const parent = shape.span === 0 ? null : place.trace
  return {
    place,
    kind: shape.kind,
    arrivedUs: noonUs + 7e6 + index * 1000,
    fields: { ...noFields, ...shape.fields, ...shape.saysOrder
      ? { dottedOrder: orderOf(place, shape), parent, root: shape.span === 0 }
      : {} },
    terms: [...shape.indexed, ...shape.plain],
    indexed: shape.indexed.length,
    block: shape.hasBlock ? BigInt(index + 1) << 32n : null,
  }
}

/** That of the third span is not canonical. */
function orderOf(place: SpanPlace, { span }: Shape): string {
  const segment = (us: number, id: Uuid) =>
    `${new Date(us / 1000).toISOString().replaceAll(/[-:.]|\d\dZ$/g, '').slice(0, 15)}${
      String(us % 1_000_000).padStart(6, '0')
    }Z${id}`
  const first = segment(place.traceStartUs, place.trace)
  const middle = segment(place.traceStartUs + 1, uuidOf(2, 77))
  const last = segment(place.startUs, place.id)
  if (span === 0) return first
  if (span === 3) return `${first}.other.${last}`
  return span < 2 ? `${first}.${last}` : `${first}.${middle}.${last}`
}

function requestsOf(tenant: string, operations: readonly SpanWrite[],
  sizes: readonly number[]): SpansOfRequest[] {
  const requests: SpansOfRequest[] = []
  for (let at = 0; at < operations.length;) {
    const spans = operations.slice(at, at + (sizes[requests.length] ?? 9))
    at += spans.length
    requests.push(requestOf(tenant, spans))
  }
  return requests
}

/** A request with these operations and a block for each that has one. */
export function requestOf(tenant: string, spans: readonly SpanWrite[]): SpansOfRequest {
  const blocks = spans.filter(({ block }) => block !== null).map(({ block, place }): Block => ({
    id: block!,
    trace: place.trace,
    traceStartUs: place.traceStartUs,
    data: blockData(block!),
  }))
  const projects = new Set(spans.map(({ place: { project } }) => project))
  return { tenant, spans, blocks, files: [],
    timeToLiveS: new Map([...projects].map((project) => [project, 400 * 86_400])) }
}

/** What a block of a history holds. */
export function blockData(id: BlockId): Uint8Array {
  return Buffer.from(`block ${id}`)
}

/** The heads that a history comes to. */
export function headsOf({ requests }: History): readonly SpanHead[] {
  const operations = requests.flatMap(({ spans }) => spans)
  const bySpan = Map.groupBy(operations, ({ place: { project, id } }) => `${project} ${id}`)
  return [...bySpan.values()].map((of) => foldHead(of))
}

/**
 * A head in one form: its terms are a set, and so are its marks. A store may forget the arrival of
 * an operation that changes nothing.
 */
export function asSets(head: SpanHead, more: readonly Term[] = []): unknown {
  const byId = (a: FeedbackMark, b: FeedbackMark) => a.id < b.id ? -1 : 1
  return { ...head, arrivedUs: undefined, terms: [...new Set([...head.terms, ...more])].toSorted(),
    feedback: head.feedback.toSorted(byId) }
}

/** Everything that a plan finds, read in pages of a few heads, each by a scan of its own. */
export async function scanned(store: SpanStore, plan: Plan,
  pageOf = Infinity): Promise<readonly SpanHead[]> {
  const found: SpanHead[] = []
  let after: ScanMark | undefined
  for (;;) {
    const page: SpanHead[] = []
    for await (const { heads } of store.scan(plan, after)) {
      page.push(...heads)
      if (page.length >= pageOf) break
    }
    const kept = page.slice(0, pageOf)
    found.push(...kept)
    if (kept.length < pageOf) return found
    after = kept.at(-1)
  }
}

/** A plan for all spans of both projects. */
export function wholePlan(tenant: string): Plan {
  return { tenant, projects: [uuidOf(1, 0), uuidOf(1, 1)], fromUs: noonUs - 1e9,
    toUs: Number.MAX_SAFE_INTEGER, order: 'newest', rootsOnly: false, terms: [], ranges: [],
    type: null, name: null }
}

/** Plans of all kinds. Terms are of those that are worth an index. */
export function aPlan(tenant: string): fc.Arbitrary<Plan> {
  return fc.record({
    tenant: fc.constant(tenant),
    projects: fc.shuffledSubarray([uuidOf(1, 0), uuidOf(1, 1), uuidOf(1, 2)], { minLength: 1 }),
    fromUs: fc.constantFrom(0, noonUs, noonUs + 3600e6),
    toUs: fc.constantFrom(Number.MAX_SAFE_INTEGER, noonUs + 2 * 3600e6 + 1),
    order: fc.constantFrom('newest' as const, 'oldest' as const),
    rootsOnly: fc.boolean(),
    terms: fc.subarray(indexedTerms, { maxLength: 2 }),
    ranges: fc.array(fc.record({
      field: fc.constantFrom('startUs' as const, 'endUs', 'latencyUs', 'promptTokens',
        'completionTokens', 'totalTokens', 'promptCost', 'completionCost', 'totalCost',
        'firstTokenUs'),
      op: fc.constantFrom('<' as const, '<=', '>', '>=', '='),
      value: fc.constantFrom(0, 0.25, 1_000, noonUs + 3600e6),
    }), { maxLength: 2 }),
    type: fc.option(fc.constantFrom('chain', 'llm')),
    name: fc.option(fc.constantFrom(...names)),
  })
}

/** True if a plan wants a head. */
export function isWanted(plan: Plan, head: SpanHead): boolean {
  return plan.projects.includes(head.project) && head.startUs >= plan.fromUs &&
    head.startUs < plan.toUs && (!plan.rootsOnly || head.root === true) &&
    (plan.type === null || head.type === plan.type) &&
    (plan.name === null || head.name === plan.name) &&
    plan.terms.every((term) => head.terms.includes(term)) &&
    plan.ranges.every(({ field, op, value }) => {
      const has = field === 'latencyUs'
        ? head.endUs === null ? null : head.endUs - head.startUs
        : head[field]
      if (has === null) return false
      return { '<': has < value, '<=': has <= value, '>': has > value, '>=': has >= value,
        '=': has === value }[op]
    })
}

/** By start, then id. */
export function inOrder(plan: Plan, heads: readonly SpanHead[]): readonly SpanHead[] {
  const sign = plan.order === 'newest' ? -1 : 1
  return heads.toSorted((a, b) => sign * (a.startUs - b.startUs || (a.id < b.id ? -1 : 1)))
}

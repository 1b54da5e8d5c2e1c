/** Spans that a question names: by their ids, by their parent, or as a whole trace. */

import { firstPlaces } from '../spans/first-places.ts'
import { HeddleError } from '../../errors.ts'
import type { SpanHead, SpanPlace, Uuid } from '../spans/span.ts'
import { tracePlace } from '../spans/trace-place.ts'
import type { RunsQuestion, Within } from './question.ts'
import { conditionsOf } from './conditions.ts'
import type { Filter } from './filter/filter.ts'
import { matching } from './matching.ts'
import type { ScanParts } from './matching.ts'
import { inTrace } from './payload/order.ts'
import { TraceOrders } from './payload/trace-order.ts'
import { visibility } from './scan.ts'
import { spanTest } from './filter/test-span.ts'
import { traceFilter } from './trace-filter.ts'

/**
 * The spans of a question that names them: by ids without further conditions, or by their parent,
 * in whose trace they are. Undefined if it names none.
 */
export async function listedHeads(parts: ScanParts, question: RunsQuestion,
  signal?: AbortSignal): Promise<readonly SpanHead[] | undefined> {
  const { tenant, ids, parent } = question
  if (ids !== undefined) {
    const isVisible = visibility(question, parts.env.nowMs())
    const places = await parts.store.locate(tenant, [...new Set(ids)])
    const visible = (await parts.store.heads(places)).filter(isVisible)
    return question.within === undefined ? visible : await inside(parts, question.within, visible)
  }
  if (parent === undefined) return undefined
  const place = await placeIn(parts, question, parent)
  if (place === undefined) return []
  return await spansOfTrace(parts, question, place, conditionsOf(question), signal)
}

/** Those of the heads that are inside of what a question is bound to. */
export async function inside(parts: ScanParts, { trace, traceFilter: filter }: Within,
  heads: readonly SpanHead[]): Promise<readonly SpanHead[]> {
  const own = heads.filter((head) => trace === undefined || head.trace === trace)
  const traces = filter === undefined
    ? undefined
    : await traceFilter(parts, { traceFilter: filter })
  return traces === undefined ? own : await traces.kept(own)
}

/** Spans that an answer with a whole trace may have. */
const traceSpansMax = 50_000

/**
 * The spans of a whole trace that meet the question, parents before their children. Bounds of the
 * start are not asked for: they only help to find it.
 */
export async function wholeTrace(parts: ScanParts, question: RunsQuestion,
  signal?: AbortSignal): Promise<readonly SpanHead[]> {
  const { fromUs: _from, toUs: _to, ...rest } = question
  const place = await traceOf(parts, question)
  if (place === undefined) return []
  return (await spansOfTrace(parts, question, place, conditionsOf(rest), signal)).toSorted(inTrace)
}

/** The spans of one trace that are visible and meet a filter. */
async function spansOfTrace(parts: ScanParts, question: RunsQuestion, place: SpanPlace,
  filter: Filter, signal?: AbortSignal): Promise<readonly SpanHead[]> {
  const isVisible = visibility(question, parts.env.nowMs())
  const test = spanTest(filter)
  const traces = await traceFilter(parts, question)
  const found: SpanHead[] = []
  const orders = new TraceOrders()
  for await (const stored of parts.store.trace(place)) {
    signal?.throwIfAborted()
    const visible = stored.filter(isVisible)
    const slice = await parts.own?.expanded(visible, signal) ?? visible
    orders.note(slice)
    const matched = await matching(slice, test, parts.payloads, signal)
    found.push(...traces === undefined ? matched : await traces.kept(matched))
    if (found.length > traceSpansMax) {
      throw new HeddleError('too_large',
        `More than ${traceSpansMax} runs of one trace: ask for fewer by a filter.`)
    }
    await new Promise((turn) => setImmediate(turn))
  }
  return orders.ordered(found)
}

/** The place of a span: a project of the question if such a project has the span. */
async function placeIn({ store }: Pick<ScanParts, 'store'>,
  { tenant, projects }: Pick<RunsQuestion, 'tenant' | 'projects'>,
  id: Uuid): Promise<SpanPlace | undefined> {
  const asked = new Set(projects.map((project) => project.id))
  return firstPlaces(await store.locate(tenant, [id]), ({ project }) => asked.has(project)).get(id)
}

/** The place of a trace, if one of the projects has it. */
async function traceOf({ store }: Pick<ScanParts, 'store'>,
  question: RunsQuestion): Promise<SpanPlace | undefined> {
  const { tenant, trace, projects } = question
  const place = await placeIn({ store }, question, trace!)
  if (place !== undefined) return place
  // A trace of OpenTelemetry has an id that none of its spans has.
  for (const { id } of projects) {
    for await (const [head] of store.trace(tracePlace(tenant, id, trace!))) if (head) return head
  }
  return undefined
}

/**
 * Filters on traces: `trace_filter` tests the root, `tree_filter` any span of the trace. If such a
 * filter has a term, its traces are found first. Otherwise the trace of each span that meets the
 * other conditions is read once.
 */

import { HeddleError } from '../../errors.ts'
import type { Plan, ScanMark, ScannedHeads } from '../spans/span-port.ts'
import type { SpanHead } from '../spans/span.ts'
import type { RunsQuestion } from './question.ts'
import { optionalFilter } from './conditions.ts'
import type { Filter } from './filter/filter.ts'
import { matching } from './matching.ts'
import type { ScanParts } from './matching.ts'
import { inOrder, slicesOf } from './payload/order.ts'
import { planOf } from './plan.ts'
import type { ScanPlace } from './plan.ts'
import { isRoot, spanTest } from './filter/test-span.ts'
import type { SpanTest } from './filter/test-span.ts'

/** Traces that a question may ask about. */
const tracesMax = 10_000
/** Heads that are looked at to find the traces first. */
const lookedMax = 50_000
/** Traces up to which all are read whole, instead of scanning for their spans. */
const fewTraces = 100
/** Traces that are read together. */
const readAtOnce = 8

/** Selection of traces by the filters of a question. */
export interface TraceFilter {
  /** Heads in a wanted trace, in their order. */
  kept(heads: readonly SpanHead[]): Promise<readonly SpanHead[]>
  /** All spans of the wanted traces behind `after`, if it is known that these are few. */
  fewSpans(plan: Plan, after?: ScanMark): Promise<readonly ScannedHeads[] | undefined>
}

interface Side {
  readonly test: SpanTest
  readonly rootsOnly: boolean
  /** A span of each wanted trace, if all could be found. */
  readonly found: ReadonlyMap<string, SpanHead> | undefined
}

/**
 * The filter of a question on traces; undefined if it has none. Its traces are found first only if
 * it is said where.
 */
export async function traceFilter(parts: ScanParts,
  question: Pick<RunsQuestion, 'traceFilter' | 'treeFilter'>, place?: ScanPlace,
  signal?: AbortSignal): Promise<TraceFilter | undefined> {
  const roots = optionalFilter(question.traceFilter)
    .map((filter): Filter => ({ kind: 'all', of: [{ kind: 'root' }, filter] }))
  const trees = optionalFilter(question.treeFilter)
  if (roots.length + trees.length === 0) return undefined
  const sides: Side[] = []
  for (const filter of [...roots, ...trees]) {
    const test = spanTest(filter)
    sides.push({ test, rootsOnly: roots.includes(filter),
      found: place && await tracesOf(parts, filter, test, place, signal) })
  }
  return new TraceVerdicts(parts, sides, signal)
}

/** A span of each trace with a span that matches; undefined if that takes too long. */
async function tracesOf(parts: ScanParts, filter: Filter, test: SpanTest, place: ScanPlace,
  signal?: AbortSignal): Promise<ReadonlyMap<string, SpanHead> | undefined> {
  const plan = planOf(filter, place, 0)
  if (plan.terms.length === 0) return undefined
  const found = new Map<string, SpanHead>()
  let looked = 0
  for await (const slice of parts.store.scan(plan)) {
    signal?.throwIfAborted()
    const matched = await matching(slice.heads, test, parts.payloads, signal)
    for (const head of matched) found.set(keyOf(head), head)
    looked += slice.looked
    if (looked > lookedMax || found.size > tracesMax) return undefined
    await new Promise((turn) => setImmediate(turn))
  }
  return found
}

class TraceVerdicts implements TraceFilter {
  readonly #parts: ScanParts
  readonly #sides: readonly Side[]
  readonly #signal: AbortSignal | undefined
  readonly #verdicts = new Map<string, boolean>()

  constructor(parts: ScanParts, sides: readonly Side[], signal: AbortSignal | undefined) {
    this.#parts = parts
    this.#sides = sides
    this.#signal = signal
  }

  async kept(heads: readonly SpanHead[]): Promise<readonly SpanHead[]> {
    const open = new Map(heads.filter((head) => !this.#verdicts.has(keyOf(head)))
      .map((head) => [keyOf(head), head]))
    if (this.#verdicts.size + open.size > tracesMax) {
      throw new HeddleError('invalid',
        `A filter on traces looks at ${tracesMax} traces at most: narrow the time range.`)
    }
    const waiting = [...open.values()]
    while (waiting.length > 0) {
      await Promise.all(waiting.splice(0, readAtOnce).map(async (head) => {
        this.#verdicts.set(keyOf(head), await this.#isWanted(head))
      }))
    }
    return heads.filter((head) => this.#verdicts.get(keyOf(head)))
  }

  async fewSpans(plan: Plan, after?: ScanMark): Promise<readonly ScannedHeads[] | undefined> {
    const known = this.#sides.flatMap(({ found }) => (found === undefined ? [] : [found]))
      .toSorted((a, b) => a.size - b.size)
    const fewest = known[0]
    if (fewest === undefined || fewest.size > fewTraces) return undefined
    const heads: SpanHead[] = []
    for (const head of fewest.values()) {
      for await (const slice of this.#parts.store.trace(head)) {
        heads.push(...slice.filter((each) => isBehind(plan, each, after)))
        if (heads.length > lookedMax) return undefined
      }
    }
    const sorted = heads.toSorted((a, b) => inOrder(plan.order, a, b))
    return slicesOf(sorted).map((slice) => ({ heads: slice, looked: slice.length }))
  }

  async #isWanted(head: SpanHead): Promise<boolean> {
    for (const side of this.#sides) {
      const isWanted = side.found?.has(keyOf(head)) ?? await this.#meets(head, side)
      if (!isWanted) return false
    }
    return true
  }

  async #meets(head: SpanHead, { test, rootsOnly }: Side): Promise<boolean> {
    const { payloads } = this.#parts
    const root = rootsOnly ? await this.#rootOf(head) : undefined
    if (root !== undefined) return (await matching([root], test, payloads, this.#signal)).length > 0
    for await (const slice of this.#parts.store.trace(head)) {
      if ((await matching(slice, test, payloads, this.#signal)).length > 0) return true
    }
    return false
  }

  /** The root, if it is this span or has the id of its trace. */
  async #rootOf(head: SpanHead): Promise<SpanHead | undefined> {
    if (isRoot(head)) return head
    const { store } = this.#parts
    const place = (await store.locate(head.tenant, [head.trace]))
      .find(({ project }) => project === head.project)
    if (place === undefined) return undefined
    const [root] = await store.heads([place])
    return root !== undefined && isRoot(root) ? root : undefined
  }
}

/** A trace of a project. Two projects may each have spans of one trace. */
function keyOf({ project, trace }: SpanHead): string {
  return `${project} ${trace}`
}

function isBehind(plan: Plan, head: SpanHead, after: ScanMark | undefined): boolean {
  return head.startUs >= plan.fromUs && head.startUs < plan.toUs &&
    (after === undefined || inOrder(plan.order, after, head) < 0)
}

/**
 * Adds tokens and costs of subtrees to spans. Only calls of models have usage of their own. The
 * spans around them show its sum.
 */

import { limitConcurrency } from '../../../cluster/index.ts'
import { addedUsage, noUsage } from '../spans/usage.ts'
import type { Usage } from '../spans/usage.ts'
import type { SpanPort } from '../spans/span-port.ts'
import type { SpanHead, Uuid } from '../spans/span.ts'
import { parentsOf } from './runs/run-fields.ts'

const usageFields = ['promptTokens', 'completionTokens', 'totalTokens', 'promptCost',
  'completionCost', 'totalCost', 'kinds'] as const

/** Sums over the spans below a span. */
interface Subtree {
  readonly usage: Usage
  readonly firstTokenUs: number | null
}

/** Spans that are looked at for one answer. Traces beyond the bound are shown without sums. */
const lookedMax = 50_000
const tracesAtOnce = 8

/** Types without spans below them that have usage. */
const leaves: ReadonlySet<string | null> = new Set(['llm', 'embedding', 'prompt', 'parser'])

const nothing: Subtree = { usage: noUsage, firstTokenUs: null }

/**
 * The same spans, with the usage below them where they have none of their own, and with the first
 * token below them. A span with nothing below it stays the same object.
 */
export async function withSubtreeUsage(store: Pick<SpanPort, 'trace'>, heads: readonly SpanHead[],
  signal?: AbortSignal): Promise<readonly SpanHead[]> {
  const wanting = heads.filter((head) => !hasUsage(head) && !leaves.has(head.type))
  const traces = Map.groupBy(wanting, ({ project, trace }) => `${project} ${trace}`)
  const limited = limitConcurrency(tracesAtOnce)
  const sums = new Map<SpanHead, Subtree>()
  let looked = 0
  await Promise.all([...traces.values()].map((own) =>
    limited(async () => {
      if (looked >= lookedMax) return
      const telling: SpanHead[] = []
      const parents = new Map<Uuid, Uuid>()
      for await (const slice of store.trace(own[0]!)) {
        signal?.throwIfAborted()
        looked += slice.length
        for (const head of slice) {
          noteParents(parents, head)
          if (tells(head)) telling.push(head)
        }
        await new Promise((turn) => setImmediate(turn))
      }
      const below = subtreesOf(telling, parents)
      for (const head of own) {
        const sum = below.get(head.id)
        if (sum !== undefined) sums.set(head, sum)
      }
    })
  ))
  return heads.map((head) => {
    const sum = sums.get(head)
    return sum === undefined
      ? head
      : { ...head, ...sum.usage, firstTokenUs: least(head.firstTokenUs, sum.firstTokenUs) }
  })
}

function hasUsage(head: SpanHead): boolean {
  return usageFields.some((name) => head[name] !== null)
}

function tells(head: SpanHead): boolean {
  return hasUsage(head) || head.firstTokenUs !== null
}

/**
 * Notes what is above a span. A dotted order ends where a request of OpenTelemetry did, so the
 * parents lead on from there; and it names spans that are not known, which no parent does.
 */
function noteParents(parents: Map<Uuid, Uuid>, head: SpanHead): void {
  const path = head.parent === null || tells(head) ? parentsOf(head) : []
  const above = head.parent ?? path.at(-1)
  if (above !== undefined) parents.set(head.id, above)
  for (const [index, id] of path.slice(1).entries()) {
    if (!parents.has(id)) parents.set(id, path[index]!)
  }
}

/**
 * Sums below each span, from the leaves up, so that each span is looked at once. A span with usage
 * of its own counts for all that is below it. Spans in a circle are ignored.
 */
function subtreesOf(telling: readonly SpanHead[],
  parents: ReadonlyMap<Uuid, Uuid>): ReadonlyMap<Uuid, Subtree> {
  const own = new Map(telling.map((head) => [head.id, head]))
  const waiting = new Map<Uuid, number>()
  for (const parent of parents.values()) waiting.set(parent, (waiting.get(parent) ?? 0) + 1)
  const ready = [...parents.keys()].filter((id) => !waiting.has(id))
  const below = new Map<Uuid, Subtree>()
  for (let id = ready.pop(); id !== undefined; id = ready.pop()) {
    const parent = parents.get(id)
    if (parent === undefined) continue
    const said = passedUp(own.get(id), below.get(id))
    if (said !== undefined) below.set(parent, together(below.get(parent), said))
    const left = waiting.get(parent)! - 1
    waiting.set(parent, left)
    if (left === 0) ready.push(parent)
  }
  return below
}

function passedUp(head: SpanHead | undefined, sum: Subtree | undefined): Subtree | undefined {
  if (head === undefined) return sum
  return { usage: hasUsage(head) ? head : sum?.usage ?? noUsage,
    firstTokenUs: least(head.firstTokenUs, sum?.firstTokenUs ?? null) }
}

function together(sum: Subtree = nothing, more: Subtree): Subtree {
  return { usage: addedUsage(sum.usage, more.usage),
    firstTokenUs: least(sum.firstTokenUs, more.firstTokenUs) }
}

function least(a: number | null, b: number | null): number | null {
  return a === null || b === null ? a ?? b : Math.min(a, b)
}

/**
 * Tokens and costs of spans with all that is below them. Only calls of models have their own; what
 * is around them is asked for its sum.
 */

import { limitConcurrency } from '../../../cluster/index.ts'
import { noUsage } from '../ingest/usage.ts'
import type { Usage } from '../ingest/usage.ts'
import type { SpanPort } from '../spans/span-port.ts'
import type { SpanHead, Uuid } from '../spans/span.ts'
import { parentsOf } from './runs/run-fields.ts'

const usageFields = ['promptTokens', 'completionTokens', 'totalTokens', 'promptCost',
  'completionCost', 'totalCost'] as const

/** What is below a span. */
interface Subtree {
  readonly usage: Usage
  readonly firstTokenUs: number | null
}

/** Spans that are looked at for one answer. Those of traces beyond are shown as they are. */
const lookedMax = 50_000
const tracesAtOnce = 8

/** Types without spans below them that have usage. */
const leaves: ReadonlySet<string | null> = new Set(['llm', 'embedding', 'prompt', 'parser'])

const nothing: Subtree = { usage: noUsage, firstTokenUs: null }

/**
 * The same spans, with the usage below them where they have none of their own. Their first token is
 * the first below them. A span with nothing below it stays the same object.
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
      for await (const slice of store.trace(own[0]!)) {
        signal?.throwIfAborted()
        looked += slice.length
        telling.push(...slice.filter((head) => hasUsage(head) || head.firstTokenUs !== null))
        await new Promise((turn) => setImmediate(turn))
      }
      const below = subtreesOf(telling)
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

/** What is below each span that is around others. A span with usage counts what is below it. */
function subtreesOf(telling: readonly SpanHead[]): ReadonlyMap<Uuid, Subtree> {
  const counted = new Set(telling.filter(hasUsage).map(({ id }) => id))
  const below = new Map<Uuid, Subtree>()
  for (const head of telling) {
    let isCounted = false
    for (const id of parentsOf(head).toReversed()) {
      const { usage, firstTokenUs } = below.get(id) ?? nothing
      isCounted ||= counted.has(id)
      below.set(id, { usage: isCounted ? usage : added(usage, head),
        firstTokenUs: least(firstTokenUs, head.firstTokenUs) })
    }
  }
  return below
}

function added(sum: Usage, more: Usage): Usage {
  return Object.fromEntries(
    usageFields.map((
      name,
    ) => [name, more[name] === null ? sum[name] : (sum[name] ?? 0) + more[name]]),
  ) as unknown as Usage
}

function least(a: number | null, b: number | null): number | null {
  return a === null || b === null ? a ?? b : Math.min(a, b)
}

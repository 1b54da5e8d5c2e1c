/** The one rule by which the operations on a span become one head, in whatever order they come. */

import { noFields } from './span.ts'
import type { FeedbackMark, SpanFields, SpanHead, SpanWrite } from './span.ts'

/** The part of a write that a store keeps. */
export type SpanOperation = Omit<SpanWrite, 'indexed'>

/**
 * The head of a span. The first post to arrive wins over other posts, patches win over posts, and
 * the last patch to arrive wins over other patches: field by field.
 */
export function foldHead(operations: readonly SpanOperation[],
  feedback: readonly FeedbackMark[] = []): SpanHead {
  // Most spans come whole, and a scan folds thousands.
  const one = operations.length === 1
  const byArrival = one ? operations : operations.toSorted((a, b) => a.arrivedUs - b.arrivedUs)
  return {
    ...operations[0]!.place,
    ...one ? operations[0]!.fields : folded(byArrival),
    arrivedUs: byArrival.at(-1)!.arrivedUs,
    terms: [...new Set(byArrival.flatMap(({ terms }) => terms))],
    blocks: [...new Set(byArrival.flatMap(({ block }) => (block === null ? [] : [block])))],
    feedback,
  }
}

function folded(byArrival: readonly SpanOperation[]): SpanFields {
  const posts = byArrival.filter(({ kind }) => kind === 'post').reverse()
  const patches = byArrival.filter(({ kind }) => kind === 'patch')
  let fields: SpanFields = noFields
  for (const operation of [...posts, ...patches]) fields = overlaid(fields, operation.fields)
  return fields
}

/** The fields of both. Where both have a value, that of `over` wins. */
function overlaid(under: SpanFields, over: SpanFields): SpanFields {
  const fields: Record<string, unknown> = { ...under }
  for (const [name, value] of Object.entries(over)) if (value !== null) fields[name] = value
  return fields as unknown as SpanFields
}

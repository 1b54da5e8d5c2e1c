/** The order of spans in answers. */

import type { Plan, ScanMark } from '../../spans/span-port.ts'
import type { SpanHead } from '../../spans/span.ts'

/** Compares two places: by start, then by id. */
export function inOrder(order: Plan['order'], a: ScanMark, b: ScanMark): number {
  const later = a.startUs - b.startUs || textOrder(a.id, b.id)
  return order === 'newest' ? -later : later
}

/** Compares two spans of a trace: parents come before their children. */
export function inTrace(a: SpanHead, b: SpanHead): number {
  return textOrder(a.dottedOrder ?? '', b.dottedOrder ?? '') || inOrder('oldest', a, b)
}

function textOrder(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}

/** Spans that are worked on before others get their turn. */
const sliceOf = 500

/** Splits heads into slices of 500. Other work gets its turn between them. */
export function slicesOf(heads: readonly SpanHead[]): readonly (readonly SpanHead[])[] {
  return Array.from({ length: Math.ceil(heads.length / sliceOf) },
    (_, index) => heads.slice(index * sliceOf, (index + 1) * sliceOf))
}

/**
 * The dotted orders of a trace whose spans came without them. They follow from the parents and
 * starts of all its spans, so they are the same in whatever requests these came. Pure.
 */

import { segmentOf } from '../../spans/dotted-order.ts'
import type { SpanHead, Uuid } from '../../spans/span.ts'

/** Fields of a span that decide its place. */
type Place = Pick<SpanHead, 'id' | 'startUs' | 'parent' | 'dottedOrder'>

/** Spans on a path. One below that begins a new path with its parent. */
const depthMax = 60

/** A dotted order, and how many spans are on it. */
interface SpanPath {
  readonly text: string
  readonly depth: number
}

/** The orders of one trace. */
export class TraceOrders {
  readonly #places = new Map<Uuid, Place>()
  readonly #paths = new Map<Uuid, SpanPath>()
  #isWanted = false

  /** Notes spans of the trace, in any order. */
  note(heads: readonly SpanHead[]): void {
    for (const { id, startUs, parent, dottedOrder } of heads) {
      this.#places.set(id, { id, startUs, parent, dottedOrder })
      this.#isWanted ||= dottedOrder === null
    }
  }

  /** The same spans, each with an order. One that a client said wins. */
  ordered(heads: readonly SpanHead[]): readonly SpanHead[] {
    if (!this.#isWanted) return heads
    return heads.map((head) =>
      head.dottedOrder === null ? { ...head, dottedOrder: this.#of(head) } : head
    )
  }

  /** From the span up to one that is known, has no parent here, or closes a circle; and back. */
  #of(span: Place): string {
    const open = new Set<Place>()
    let above: Place | undefined = span
    while (above !== undefined && !this.#paths.has(above.id) && !open.has(above)) {
      open.add(above)
      above = above.parent === null || above.dottedOrder !== null
        ? undefined
        : this.#places.get(above.parent)
    }
    for (const one of [...open].reverse()) {
      this.#paths.set(one.id, pathOf(one, above, above && this.#paths.get(above.id)))
      above = one
    }
    return this.#paths.get(span.id)!.text
  }
}

function pathOf(span: Place, parent: Place | undefined, path: SpanPath | undefined): SpanPath {
  if (span.dottedOrder !== null) {
    return { text: span.dottedOrder, depth: span.dottedOrder.split('.').length }
  }
  const own = segmentOf(span.startUs, span.id)
  if (parent === undefined || path === undefined) return { text: own, depth: 1 }
  if (path.depth < depthMax) return { text: `${path.text}.${own}`, depth: path.depth + 1 }
  return { text: `${segmentOf(parent.startUs, parent.id)}.${own}`, depth: 2 }
}

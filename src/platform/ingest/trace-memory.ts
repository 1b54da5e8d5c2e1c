/** Memory of an ingest thread of the traces that it wrote last. It can be lost at any time. */

import { LRUCache } from '../../../cluster/index.ts'
import type { SpanPlace, Uuid } from '../spans/span.ts'

/** Spans that a trace may have. */
export const spansOfTraceMax = 25_000
/** Spans that are remembered, of all traces together. */
const spansMax = 250_000
/** Places that are remembered: of spans that do not say themselves where they are. */
const placesMax = 20_000

interface Trace {
  /** Undefined as long as it is a guess. */
  project: Uuid | undefined
  readonly spans: Set<Uuid>
}

/** A place, and the dotted order that the span has there. */
export interface RememberedPlace {
  readonly place: SpanPlace
  readonly order: string | null
}

/** The memory of a thread. */
export class TraceMemory {
  readonly #traces = new LRUCache<string, Trace>({ maxSize: spansMax,
    sizeCalculation: ({ spans }) => 2 * spans.size })
  readonly #places = new LRUCache<string, RememberedPlace>({ max: placesMax })

  /** The project that a trace was last filed under. */
  projectOf(tenant: string, trace: Uuid): Uuid | undefined {
    return this.#traces.get(keyOf(tenant, trace))?.project
  }

  /** False if the trace is full and the span is new. */
  hasRoom({ tenant, trace, id, project }: SpanPlace, isGuess = false): boolean {
    const key = keyOf(tenant, trace)
    const known = this.#traces.get(key) ?? { project: undefined, spans: new Set() }
    if (!known.spans.has(id) && known.spans.size >= spansOfTraceMax) return false
    if (!isGuess) known.project = project
    if (known.spans.has(id)) return true
    known.spans.add(id)
    if (isPowerOfTwo(known.spans.size)) this.#count(key, known)
    return true
  }

  /** Its size is counted when it is set, now and then, as it doubles; but not if it is there. */
  #count(key: string, trace: Trace): void {
    this.#traces.delete(key)
    this.#traces.set(key, trace)
  }

  /** The place that was found or made up for a span. */
  placeOf(tenant: string, id: Uuid): RememberedPlace | undefined {
    return this.#places.get(keyOf(tenant, id))
  }

  rememberPlace(remembered: RememberedPlace): void {
    this.#places.set(keyOf(remembered.place.tenant, remembered.place.id), remembered)
  }
}

function isPowerOfTwo(count: number): boolean {
  return (count & (count - 1)) === 0
}

function keyOf(tenant: string, id: Uuid): string {
  return `${id}${tenant}`
}

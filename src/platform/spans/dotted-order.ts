/** The dotted order of a span: its place in its trace, as a path of start times and ids. */

import { HeddleError } from '../../errors.ts'
import type { Uuid } from './span.ts'
import { readUuid } from '../../uuid-bytes.ts'
import { orderTime, readOrderTime } from './order-time.ts'

/** Spans on a path. */
const depthMax = 64
/** Characters of a time in a segment. */
const timeLength = 22
/** Characters of a segment: a time, an id and a dot. Lists of spans read the order of each. */
const segmentMax = timeLength + 36 + 1

/** Parts of a dotted order. */
export interface DottedOrder {
  readonly text: string
  readonly id: Uuid
  readonly startUs: number
  readonly trace: Uuid
  readonly traceStartUs: number
  /** Null for the root of a trace. */
  readonly parent: Uuid | null
}

/** Reads a dotted order. Throws `invalid`. */
export function readDottedOrder(text: string): DottedOrder {
  // Older clients name a root with a leading dot.
  const segments = text.replace(/^\./, '').split('.', depthMax + 1)
  if (segments.length > depthMax) {
    throw new HeddleError('invalid', `dotted_order: more than ${depthMax} spans deep.`)
  }
  if (text.length > depthMax * segmentMax) {
    throw new HeddleError('invalid', 'dotted_order: a segment is no time with an id.')
  }
  const root = readSegment(segments[0]!)
  const own = segments.length === 1 ? root : readSegment(segments.at(-1)!)
  return {
    text: text.replace(/^\./, ''),
    id: own.id,
    startUs: own.startUs,
    trace: root.id,
    traceStartUs: root.startUs,
    parent: segments.length === 1 ? null : readSegment(segments.at(-2)!).id,
  }
}

function readSegment(segment: string): { readonly startUs: number; readonly id: Uuid } {
  const startUs = readOrderTime(segment.slice(0, timeLength))
  const id = readUuid(segment.slice(timeLength))
  if (startUs === undefined || id === undefined) {
    throw new HeddleError('invalid', 'dotted_order: a segment is no time with an id.')
  }
  return { startUs, id }
}

/** The segment of a span. */
export function segmentOf(startUs: number, id: Uuid): string {
  return orderTime(startUs) + id
}

/** The dotted order of a span in few bytes: what its place says already is left out. */

import type { SpanPlace, Uuid } from '../../../platform/index.ts'
import { bytesOfUuid, uuidOfBytes } from '../../../uuid-bytes.ts'

/** Bytes of a time and an id. */
const [timeBytes, segmentBytes] = [6, 22]
/** Times lie around this one, so that they fit: the year 2020. */
const zeroUs = 1_577_836_800_000_000
const timeMax = 2 ** 47
const dayUs = 86_400_000_000

/**
 * The segments between the first and the last one, behind a byte; nothing if there is one segment.
 * The text itself if it is not what the place and those segments would be written as.
 */
export function packDottedOrder(order: string, place: SpanPlace): Uint8Array | string {
  const segments = order.split('.')
  const last = segmentText(place.startUs, place.id)
  const first = segmentText(place.traceStartUs, place.trace)
  if (segments.at(-1) !== last || segments[0] !== first) return order
  if (segments.length === 1) return new Uint8Array()
  const packed = Buffer.alloc(1 + (segments.length - 2) * segmentBytes)
  for (const [index, segment] of segments.slice(1, -1).entries()) {
    const us = timeOf(segment)
    const id = segment.slice(22)
    const isPlain = Math.abs(us - zeroUs) < timeMax && segmentText(us, id) === segment &&
      /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/.test(id)
    if (!isPlain) return order
    const at = 1 + index * segmentBytes
    packed.writeIntBE(us - zeroUs, at, timeBytes)
    packed.set(bytesOfUuid(id), at + timeBytes)
  }
  return packed
}

/** The dotted order of a span, as it was packed. */
export function openDottedOrder(packed: Uint8Array | string, place: SpanPlace): string {
  if (typeof packed === 'string') return packed
  const last = segmentText(place.startUs, place.id)
  if (packed.byteLength === 0) return last
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength)
  let order = segmentText(place.traceStartUs, place.trace)
  for (let at = 1; at < bytes.byteLength; at += segmentBytes) {
    const us = bytes.readIntBE(at, timeBytes) + zeroUs
    order += `.${segmentText(us, uuidOfBytes(bytes.subarray(at + timeBytes, at + segmentBytes)))}`
  }
  return `${order}.${last}`
}

/** The parent that a packed dotted order tells; undefined if it tells none. */
export function parentIn(packed: unknown, trace: Uuid): Uuid | undefined {
  if (!(packed instanceof Uint8Array) || packed.byteLength === 0) return undefined
  return packed.byteLength === 1 ? trace : uuidOfBytes(packed.subarray(-16))
}

/** `20240429T004912090000Z` and the id. */
function segmentText(us: number, id: Uuid): string {
  const day = Math.floor(us / dayUs)
  const ofDay = us - day * dayUs
  const second = Math.floor(ofDay / 1e6)
  const clock = Math.floor(second / 3600) * 10_000 + Math.floor(second / 60) % 60 * 100 +
    second % 60
  const digits = String(1e12 + clock * 1e6 + ofDay - second * 1e6).slice(1)
  return `${dayText(day)}T${digits}Z${id}`
}

/** The day that was written last, because most are of one day. */
let lastDay = { day: 0, text: '19700101' }

function dayText(day: number): string {
  if (lastDay.day !== day) lastDay = { day, text: textOfDay(day) }
  return lastDay.text
}

function textOfDay(day: number): string {
  const ms = day * dayUs / 1000
  return Math.abs(ms) > 8.64e15 ? '' : new Date(ms).toISOString().slice(0, 10).replaceAll('-', '')
}

/** The time of a segment in microseconds; not a number if it has none. */
function timeOf(segment: string): number {
  const part = (from: number, to: number) => Number(segment.slice(from, to))
  const ms = Date.UTC(part(0, 4), part(4, 6) - 1, part(6, 8), part(9, 11), part(11, 13),
    part(13, 15))
  return ms * 1000 + part(15, 21)
}

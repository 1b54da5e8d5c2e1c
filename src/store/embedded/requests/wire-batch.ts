/** Bodies passed between two threads: many in one buffer, which is transferred at no cost. */

import type { LogEntry } from '../../../checkpoint/index.ts'
import { memberOf } from '../../../json/index.ts'
import type { Write } from './write.ts'

/**
 * Writes as a message. `text` is JSON, in which each body is replaced by its size, and `bytes`
 * holds the bodies in order. A long body is passed as it is: -1 stands for the first of `long`, -2
 * for the second.
 */
export interface WireBatch {
  readonly text: string
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Undefined if there are none. */
  readonly long?: readonly Uint8Array[]
}

/** Bytes. Longer bodies are never in the write-ahead file. */
const longBody = 1024 * 1024

/**
 * Packs writes. It takes a third of the time of cloning them with their bodies one by one
 * (measured).
 */
export function packWrites(writes: readonly Write[]): WireBatch {
  const bodies: Uint8Array[] = []
  const long: Uint8Array[] = []
  const sized = <Item extends { readonly body: Uint8Array }>(item: Item) => {
    bodies.push(item.body)
    return { ...item, body: item.body.byteLength }
  }
  const given = <Item extends { readonly body: Uint8Array }>(item: Item) => {
    const { body } = item
    const isAlone = body.byteLength === body.buffer.byteLength
    if (body.byteLength <= longBody || !isAlone) return sized(item)
    return { ...item, body: -long.push(body) }
  }
  const packed = writes.map((write) => {
    if (!('rows' in write)) return write
    // The caller of a load counts the bytes of its rows afterwards, so bodies are copied.
    if (write.kind === 'load') return { ...write, rows: write.rows.map(sized) }
    return { ...write, rows: write.rows.map(given), updates: write.updates.map((
      update,
    ) => ('entry' in update ? { ...update, entry: given(update.entry) } : update)) }
  })
  const batch = { text: JSON.stringify(packed), bytes: joined(bodies) }
  return long.length === 0 ? batch : { ...batch, long }
}

/** The buffers to transfer with the batch. Nothing else may use them after that. */
export function buffersOf({ bytes, long = [] }: WireBatch): ArrayBuffer[] {
  const others = long.map(({ buffer }) => buffer)
  return [bytes.buffer, ...others.filter((buffer) => buffer instanceof ArrayBuffer)]
}

/** The writes of a batch. Bodies are views of its buffers. */
export function unpackWrites({ text, bytes, long = [] }: WireBatch): Write[] {
  const writes = JSON.parse(text) as Write[]
  let at = 0
  for (const item of writes.flatMap(bodiedOf)) {
    const size = item.body as number
    item.body = size < 0 ? long[-size - 1] : bytes.subarray(at, at += size)
  }
  return writes
}

/** Bytes up to which copying a body costs less than transferring it. */
const longBytes = 64 * 1024

/** The buffers of a reply to transfer instead of copying: long bodies in it and in its rows. */
export function transferred(value: unknown): ArrayBuffer[] {
  if (value instanceof Uint8Array) return isWhole(value) ? [value.buffer] : []
  if (Array.isArray(value)) return value.flatMap(transferred)
  const bytes = memberOf(value, 'bytes')
  return bytes === undefined ? [] : transferred(bytes)
}

/** Rows of the log: three numbers each (epoch, seq, bytes of the body) and their bodies. */
export interface EntryBatch {
  readonly numbers: readonly number[]
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** Packs rows. A single long body is passed as it is. */
export function packEntries(entries: readonly LogEntry[]): EntryBatch {
  const bodies = entries.map(({ body }) => body)
  const [only] = bodies
  return {
    numbers: entries.flatMap(({ epoch, seq, body }) => [epoch, seq, body.byteLength]),
    bytes: bodies.length === 1 && isWhole(only!) ? only : joined(bodies),
  }
}

/** The rows of a batch. Bodies are views of its buffer. */
export function unpackEntries({ numbers, bytes }: EntryBatch): LogEntry[] {
  const entries: LogEntry[] = []
  let at = 0
  for (let index = 0; index < numbers.length; index += 3) {
    const [epoch, seq, length] = [numbers[index]!, numbers[index + 1]!, numbers[index + 2]!]
    entries.push({ epoch, seq, body: bytes.subarray(at, at += length) })
  }
  return entries
}

function bodiedOf(write: Write): { body: unknown }[] {
  if (!('rows' in write)) return []
  if (write.kind === 'load') return [...write.rows]
  return [...write.rows, ...write.updates.flatMap((each) => ('entry' in each ? [each.entry] : []))]
}

function joined(bodies: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(bodies.reduce((sum, { byteLength }) => sum + byteLength, 0))
  let at = 0
  for (const body of bodies) {
    bytes.set(body, at)
    at += body.byteLength
  }
  return bytes
}

/** True if nothing else shares the body's buffer, which then can be transferred. */
function isWhole(body: Uint8Array): body is Uint8Array<ArrayBuffer> {
  return body.buffer instanceof ArrayBuffer && body.byteLength > longBytes
    && body.byteLength === body.buffer.byteLength
}

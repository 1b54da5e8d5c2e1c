/** Records of the write-ahead file: a write each, numbered, with a checksum over all of it. */

import { crc32 } from 'node:zlib'

import type { WireBatch } from '../requests/wire-batch.ts'

/** One record, which holds one write. */
export interface WriteAheadRecord {
  /** Salt of the generation that wrote the record. */
  readonly salt: number
  /** One more than the number of the record before, and of the write before. */
  readonly number: number
  readonly write: WireBatch
}

/** Each record begins a page, so that writing it never touches one that is on disk. */
const pageBytes = 4096

/** Head of a record: a mark, the checksum, salt, number, bytes of the text, bytes of the bodies. */
const headBytes = 32
const mark = 0x48444c31
const checkedFrom = 8

/** A wire batch whose text is encoded. */
export interface EncodedBatch {
  readonly text: Uint8Array
  readonly bytes: Uint8Array
}

/** Length of the record in bytes, with its head. */
export function lengthOf({ text, bytes }: EncodedBatch): number {
  return headBytes + text.byteLength + bytes.byteLength
}

/** Bytes that the record takes up in the file: whole pages. */
export function sizeOf(batch: EncodedBatch): number {
  return Math.ceil(lengthOf(batch) / pageBytes) * pageBytes
}

/** The head of a record, which comes before the text and the bodies. */
export function headOf({ text, bytes }: EncodedBatch, salt: number, number: number): Uint8Array {
  const head = Buffer.allocUnsafe(headBytes)
  head.writeUInt32LE(mark, 0)
  head.writeBigUInt64LE(BigInt(salt), 8)
  head.writeBigUInt64LE(BigInt(number), 16)
  head.writeUInt32LE(text.byteLength, 24)
  head.writeUInt32LE(bytes.byteLength, 28)
  head.writeUInt32LE(checksum([head.subarray(checkedFrom), text, bytes]), 4)
  return head
}

/**
 * The records at the beginning of a file, of one generation, in order. The last one is before a
 * gap. What follows was cut off and so never acknowledged, or is from an earlier round.
 */
export function* recordsIn(file: Buffer): Generator<WriteAheadRecord, void, void> {
  let last: WriteAheadRecord | undefined
  for (let at = 0; at + headBytes <= file.length;) {
    const record = recordAt(file.subarray(at))
    if (!record) return
    const { salt, number, encoded } = record
    if (last && (salt !== last.salt || number !== last.number + 1)) return
    const text = Buffer.from(encoded.text).toString()
    yield last = { salt, number, write: { text, bytes: new Uint8Array(encoded.bytes) } }
    at += sizeOf(encoded)
  }
}

interface EncodedRecord {
  readonly salt: number
  readonly number: number
  readonly encoded: EncodedBatch
}

function recordAt(file: Buffer): EncodedRecord | undefined {
  if (file.readUInt32LE(0) !== mark) return undefined
  const textEnd = headBytes + file.readUInt32LE(24)
  const end = textEnd + file.readUInt32LE(28)
  if (end > file.length) return undefined
  if (checksum([file.subarray(checkedFrom, end)]) !== file.readUInt32LE(4)) return undefined
  const encoded = { text: file.subarray(headBytes, textEnd), bytes: file.subarray(textEnd, end) }
  const salt = Number(file.readBigUInt64LE(8))
  return { salt, number: Number(file.readBigUInt64LE(16)), encoded }
}

function checksum(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => crc32(part, sum), 0)
}

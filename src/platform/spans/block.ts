/** Blocks: payloads of a trace, compressed, and named by their content. */

import { hash } from 'node:crypto'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'

import { BlockBody } from '../../../proto/gen/storage/v1/block.ts'
import { payloadFields } from './payload.ts'
import type { PayloadPart } from './payload.ts'
import type { Block, Uuid } from './span.ts'
import { bytesOfUuid, uuidOfBytes } from './uuid-bytes.ts'

/** Bytes from which on compression is worth its time. */
const compressedFrom = 400

/** The first byte of stored data: what follows it. */
const [plain, zstd] = [0, 1]

/** Bytes that a block may have when it is opened. */
const openMax = 64 * 1024 * 1024

/** Makes a block. The same parts in the same order make the same block. */
export function sealBlock(trace: Uuid, traceStartUs: number, parts: readonly PayloadPart[]): Block {
  const body = BlockBody.encode({ parts: parts.map(({ span, kind, members }) => ({
    ...members,
    span: bytesOfUuid(span),
    patch: kind === 'patch',
  })) }).finish()
  const id = BigInt.asUintN(62, hash('sha256', body, 'buffer').readBigUInt64BE())
  const data = body.byteLength < compressedFrom
    ? Buffer.concat([Uint8Array.of(plain), body])
    : Buffer.concat([Uint8Array.of(zstd), zstdCompressSync(body)])
  return { id, trace, traceStartUs, data }
}

/** The parts of a block from its stored data, in their order. */
export function openBlock(data: Uint8Array): readonly PayloadPart[] {
  const content = data.subarray(1)
  const body = data[0] === zstd
    ? zstdDecompressSync(content, { maxOutputLength: openMax })
    : content
  return BlockBody.decode(body).parts.map(({ span, patch, ...all }) => ({
    span: uuidOfBytes(span),
    kind: patch ? 'patch' : 'post',
    members: Object.fromEntries(payloadFields.flatMap((name) => {
      const bytes = all[name]
      return bytes === undefined ? [] : [[name, bytes]]
    })),
  }))
}

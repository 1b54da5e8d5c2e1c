/** Blocks: payloads of a trace, compressed, and named by their content. */

import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { zstdCompress, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

import { BlockBody } from '../../../proto/gen/storage/v1/block.ts'
import { payloadFields } from './payload.ts'
import type { PayloadPart } from './payload.ts'
import type { Block, BlockId, SpanPlace, Uuid } from './span.ts'
import { bytesOfUuid, uuidOfBytes } from '../../uuid-bytes.ts'

/** Bytes from which on data are compressed. */
const compressedFrom = 400

/** Bytes from which on compression takes milliseconds, and runs beside this thread. */
const asideFrom = 512 * 1024

/** First byte of stored data, which tells whether the rest is compressed. */
const [plain, zstd] = [0, 1]

/** Bytes that a block may have when it is opened. */
const openMax = 64 * 1024 * 1024

/** Makes a block. The same parts in the same order make the same block. */
export function sealBlock(trace: Uuid, traceStartUs: number, parts: readonly PayloadPart[]): Block {
  return sealed(trace, traceStartUs, bodyOf(parts))
}

/**
 * Makes a block as `sealBlock` does, for one project. The same payload in another project is in
 * another block, because each project has its own time to live. A long block is compressed
 * beside this thread.
 */
export async function sealBlockAside(
  { project, trace, traceStartUs }: Pick<SpanPlace, 'project' | 'trace' | 'traceStartUs'>,
  parts: readonly PayloadPart[],
): Promise<Block> {
  const body = bodyOf(parts)
  const block = body.byteLength < asideFrom
    ? sealed(trace, traceStartUs, body)
    : { id: idOf(body), trace, traceStartUs,
      data: Buffer.concat([Uint8Array.of(zstd), await compressed(body)]) }
  // Its last bytes: the first ones are the time at which the project was created.
  return { ...block, id: block.id ^ BigInt.asUintN(62, bytesOfUuid(project).readBigUInt64BE(8)) }
}

function sealed(trace: Uuid, traceStartUs: number, body: Uint8Array): Block {
  const data = body.byteLength < compressedFrom
    ? Buffer.concat([Uint8Array.of(plain), body])
    : Buffer.concat([Uint8Array.of(zstd), zstdCompressSync(body)])
  return { id: idOf(body), trace, traceStartUs, data }
}

const compressed = promisify(zstdCompress)

function bodyOf(parts: readonly PayloadPart[]): Uint8Array {
  return BlockBody.encode({ parts: parts.map(({ span, kind, members }) => ({
    ...members,
    span: bytesOfUuid(span),
    patch: kind === 'patch',
  })) }).finish()
}

function idOf(body: Uint8Array): BlockId {
  return BigInt.asUintN(62, hash('sha256', body, 'buffer').readBigUInt64BE())
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

/** Takes the compression from a recorded body, chunk by chunk. */

import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw,
  createZstdDecompress } from 'node:zlib'

import type { CallHeaders } from '../calls/call.ts'

const makers: Readonly<Record<string, (first: number) => Transform>> = {
  'gzip': () => createGunzip(),
  'x-gzip': () => createGunzip(),
  // Some servers leave the header of zlib out.
  'deflate': (first) => (first & 0x0f) === 8 ? createInflate() : createInflateRaw(),
  'br': () => createBrotliDecompress(),
  'zstd': () => createZstdDecompress(),
}

/** Codings that one body may have. */
const codingsMax = 4

/** Returns the compressions of a body in the order in which they were applied. */
export function codingsOf(headers: CallHeaders): readonly string[] {
  return headers.filter(([name]) => name.toLowerCase() === 'content-encoding')
    .flatMap(([, value]) => value.split(','))
    .map((coding) => coding.trim().toLowerCase())
    .filter((coding) => coding !== '' && coding !== 'identity')
}

/**
 * Returns the chunks without their compression. Each contains the bytes that it added to the body.
 * Undefined if they cannot be decoded, or have more than `maxBytes`.
 */
export async function decodedChunks(chunks: readonly Uint8Array[], codings: readonly string[],
  maxBytes: number): Promise<readonly Uint8Array[] | undefined> {
  if (codings.length > codingsMax) return undefined
  let decoded: readonly Uint8Array[] | undefined = chunks
  for (const coding of codings.toReversed()) {
    decoded = await decodedOnce(decoded, coding, maxBytes)
    if (decoded === undefined) return undefined
  }
  return decoded
}

async function decodedOnce(chunks: readonly Uint8Array[], coding: string,
  maxBytes: number): Promise<readonly Uint8Array[] | undefined> {
  const first = chunks.find(({ byteLength }) => byteLength > 0)
  if (first === undefined) return chunks
  const stream = makers[coding]?.(first[0]!)
  if (stream === undefined) return undefined
  const decoded: Uint8Array[] = []
  let [bytes, broken] = [0, false]
  let parts: Buffer[] = []
  stream.on('data', (part: Buffer) => {
    bytes += part.byteLength
    if (bytes <= maxBytes) parts.push(part)
  })
  stream.on('error', () => {
    broken = true
  })
  for (const chunk of chunks) {
    await written(stream, chunk)
    if (broken || bytes > maxBytes) break
    if (parts.length > 0) decoded.push(Buffer.concat(parts))
    parts = []
  }
  stream.destroy()
  return broken || bytes > maxBytes ? undefined : decoded
}

async function written(stream: Transform, chunk: Uint8Array): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  stream.once('error', resolve)
  stream.write(chunk, () => {
    // What the chunk gave is read by then.
    setImmediate(resolve)
  })
  await promise
  stream.removeListener('error', resolve)
}

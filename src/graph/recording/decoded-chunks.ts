/** Takes the compression from a recorded answer, chunk by chunk. */

import type { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate,
  createZstdDecompress } from 'node:zlib'

import type { CallHeaders } from '../calls/call.ts'

const makers: Readonly<Record<string, () => Transform>> = {
  'gzip': createGunzip,
  'x-gzip': createGunzip,
  'deflate': createInflate,
  'br': createBrotliDecompress,
  'zstd': createZstdDecompress,
}

/** The name of an answer's compression; empty without one. */
export function codingOf(headers: CallHeaders): string {
  const [, value = ''] = headers.find(([name]) => name === 'content-encoding') ?? []
  const coding = value.trim().toLowerCase()
  return coding === 'identity' ? '' : coding
}

/**
 * The chunks without their compression, of which each gives what was to be read at its time.
 * Undefined if they cannot be read, or have more than `maxBytes`.
 */
export async function decodedChunks(chunks: readonly Uint8Array[], coding: string,
  maxBytes: number): Promise<readonly Uint8Array[] | undefined> {
  if (coding === '' || chunks.length === 0) return chunks
  const stream = makers[coding]?.()
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

/** The bodies of a call as a recording stores them: readable, and without secrets. */

import { promisify } from 'node:util'
import { gzip, zstdCompress } from 'node:zlib'

import type { CallHeaders } from '../calls/call.ts'
import { codingsOf, decodedChunks } from './decoded-chunks.ts'
import { hiddenChunks } from './hidden-bytes.ts'
import type { HideSecrets } from './hidden-bytes.ts'

type Chunks = readonly Uint8Array[]

/** Bytes of a body without its compression. */
const plainBytesMax = 4 * 1024 * 1024

/** Compressed files that are detected by their first bytes, and how to compress them again. */
const files = [
  { coding: 'gzip', magic: [0x1f, 0x8b, 8], compress: promisify(gzip) },
  { coding: 'zstd', magic: [0x28, 0xb5, 0x2f, 0xfd], compress: promisify(zstdCompress) },
] as const

/**
 * Returns the chunks of a request without compression and secrets. A compressed file becomes plain,
 * too: requests are only compared. Undefined if they cannot be decoded within the limit.
 */
export async function redactedRequest(chunks: Chunks, headers: CallHeaders,
  hide: HideSecrets): Promise<Chunks | undefined> {
  const plain = await decodedChunks(chunks, codingsOf(headers), plainBytesMax)
  if (plain === undefined) return undefined
  const file = fileOf(plain)
  const readable = file ? await decodedChunks(plain, [file.coding], plainBytesMax) : plain
  return readable && hiddenChunks(readable, hide)
}

/**
 * Returns the chunks of a response without compression and secrets. A file that code is to
 * decompress is compressed again. `learn` gets the text before it is redacted. Undefined if they
 * cannot be decoded within the limit.
 */
export async function redactedAnswer(chunks: Chunks, headers: CallHeaders, hide: HideSecrets,
  learn: (text: string) => void = () => {}): Promise<Chunks | undefined> {
  const plain = await decodedChunks(chunks, codingsOf(headers), plainBytesMax)
  if (plain === undefined) return undefined
  const file = fileOf(plain)
  if (file === undefined) {
    learn(Buffer.concat(plain).toString('latin1'))
    return hiddenChunks(plain, hide)
  }
  const readable = await decodedChunks(plain, [file.coding], plainBytesMax)
  if (readable === undefined) return undefined
  learn(Buffer.concat(readable).toString('latin1'))
  const hidden = hiddenChunks(readable, hide)
  return hidden === readable ? plain : [await file.compress(Buffer.concat(hidden))]
}

function fileOf(chunks: Chunks): typeof files[number] | undefined {
  const start = Buffer.concat(chunks.slice(0, 4)).subarray(0, 4)
  return files.find(({ magic }) => magic.every((byte, at) => start[at] === byte))
}

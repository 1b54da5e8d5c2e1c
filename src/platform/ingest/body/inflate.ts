/** Takes the compression from a body. It stops as soon as there are more bytes than allowed. */

import { gunzip, zstdDecompress } from 'node:zlib'

import { HeddleError } from '../../../errors.ts'

/** Bytes that a body may have without its compression. */
export const inflatedMax = 64 * 1024 * 1024

/**
 * The bytes of a body, inflated beside this thread. Throws `too_large` for more than `max`, and
 * `malformed` for what was not compressed so.
 */
export async function inflate(body: Uint8Array, encoding: '' | 'gzip' | 'zstd',
  max = inflatedMax): Promise<Buffer> {
  if (encoding === '') {
    if (body.byteLength > max) throw tooLarge(max)
    return Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  }
  const options = { maxOutputLength: max, chunkSize: 64 * 1024 }
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, bytes: Buffer) => {
      if (error === null) return resolve(bytes)
      const isTooLarge = 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
      reject(isTooLarge
        ? tooLarge(max)
        : new HeddleError('malformed', `The body is no whole ${encoding} stream.`))
    }
    if (encoding === 'gzip') gunzip(body, options, done)
    else zstdDecompress(body, options, done)
  })
}

function tooLarge(max: number): HeddleError {
  return new HeddleError('too_large',
    `A body may have ${max / 1024 / 1024} MiB without its compression.`)
}

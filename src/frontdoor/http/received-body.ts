/** Receives bodies. A long one is put together as it comes, so that its end holds up nobody. */

import type { FastifyRequest, RequestPayload } from 'fastify'

import { HeddleError } from '../../errors.ts'

/**
 * All of a body, in memory of its own. Throws `too_large` for more bytes than the route takes, and
 * `malformed` for other than the announced number.
 */
export async function receiveBody({ headers, routeOptions }: FastifyRequest,
  payload: RequestPayload): Promise<Buffer> {
  const { 'content-length': length } = headers
  const announced = length === undefined ? undefined : Number(length)
  const { bodyLimit } = routeOptions
  if (announced !== undefined && announced > bodyLimit) throw new HeddleError('too_large')
  const chunks = announced === undefined ? unannounced() : announcedOf(announced)
  await allOf(payload, (chunk) => {
    chunks.add(chunk)
    if (chunks.length > bodyLimit) throw new HeddleError('too_large')
  })
  if (announced === undefined || chunks.length === announced) return chunks.whole()
  throw new HeddleError('malformed', 'The body has another length than was announced.')
}

/** Resolves at the end of a body. What `take` throws ends it, and the rest is dropped. */
function allOf(payload: RequestPayload, take: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      payload.off('data', onData).off('end', onEnd).off('error', onError)
    }
    const onData = (chunk: Buffer) => {
      try {
        take(chunk)
      } catch (error) {
        stop()
        reject(error as Error)
      }
    }
    const onEnd = () => {
      stop()
      resolve()
    }
    const onError = (error: Error) => {
      stop()
      // What counts the body, as for a deployment, says itself that it is too long.
      reject(error instanceof HeddleError
        ? error
        : new HeddleError('malformed', `The request cannot be read: ${error.message}`))
    }
    payload.on('data', onData).on('end', onEnd).on('error', onError)
    payload.resume()
  })
}

/** Chunks of a body that were received so far. */
interface Chunks {
  readonly length: number
  add(chunk: Buffer): void
  whole(): Buffer
}

/** The system gives memory to its pages one by one, as they are written. */
function announcedOf(bytes: number): Chunks {
  const body = Buffer.allocUnsafeSlow(bytes)
  let length = 0
  return {
    get length() {
      return length
    },
    add: (chunk) => {
      chunk.copy(body, length)
      length += chunk.length
    },
    whole: () => body,
  }
}

function unannounced(): Chunks {
  const chunks: Buffer[] = []
  let length = 0
  return {
    get length() {
      return length
    },
    add: (chunk) => {
      chunks.push(chunk)
      length += chunk.length
    },
    whole: () => Buffer.concat(chunks, length),
  }
}

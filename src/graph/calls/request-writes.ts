/** The body of a request of `node:http`, as its client writes it. */

import type { ClientRequest } from 'node:http'

import type { CallBody } from './call.ts'
import { expectsContinue } from './stored-header.ts'

/** Bytes that a request without a connection is watched for. Node itself holds them until then. */
const watchedBytesMax = 16 * 1024 * 1024

/** Watches the writes of a request that waits for its connection. */
export class RequestWrites implements CallBody {
  #chunks: Uint8Array[] = []
  #bytes = 0
  #isEnded = false
  #isFinal = false
  #sent: ((chunk: Uint8Array) => void) | undefined
  readonly #awaitsServer: () => boolean
  #changed = Promise.withResolvers<void>()

  constructor(request: ClientRequest) {
    this.#awaitsServer = () => expectsContinue(request)
    const { write, end } = request
    // The methods have several forms, which are passed on as they are.
    request.write = ((...given: unknown[]) => {
      this.#take(given)
      return (write as (...given: unknown[]) => boolean).apply(request, given)
    }) as typeof write
    request.end = ((...given: unknown[]) => {
      this.#take(given)
      this.#isEnded = true
      this.#tell()
      return (end as (...given: unknown[]) => ClientRequest).apply(request, given)
    }) as typeof end
    request.once('close', () => {
      this.#isEnded = true
      this.#tell()
    })
  }

  get length(): number | undefined {
    return this.#isEnded ? this.#bytes : undefined
  }

  read: CallBody['read'] = async (maxBytes) => {
    // The client sends its body when the server has asked for it.
    if (this.#awaitsServer() && !this.#isEnded) return undefined
    while (!this.#isEnded && this.#bytes <= Math.min(maxBytes, watchedBytesMax)) {
      await this.#changed.promise
    }
    if (this.#bytes > Math.min(maxBytes, watchedBytesMax)) return undefined
    return Buffer.concat(this.#chunks)
  }

  /** The request goes out: its body is not kept any more. `sent` is called with each part of it. */
  settle(sent: ((chunk: Uint8Array) => void) | undefined): void {
    this.#sent = sent
    this.#isFinal = true
    for (const chunk of this.#chunks) quietly(sent, chunk)
    this.#chunks = []
  }

  #take([chunk, encoding]: readonly unknown[]): void {
    const bytes = typeof chunk === 'string'
      ? Buffer.from(chunk, typeof encoding === 'string' ? encoding as BufferEncoding : 'utf8')
      : chunk instanceof Uint8Array
      ? chunk
      : undefined
    if (bytes === undefined || bytes.byteLength === 0) return
    this.#bytes += bytes.byteLength
    if (this.#isFinal) quietly(this.#sent, bytes)
    else if (this.#bytes <= watchedBytesMax) this.#chunks.push(bytes)
    this.#tell()
  }

  #tell(): void {
    const { resolve } = this.#changed
    this.#changed = Promise.withResolvers()
    resolve()
  }
}

function quietly(sent: ((chunk: Uint8Array) => void) | undefined, chunk: Uint8Array): void {
  try {
    sent?.(chunk)
  } catch {
    // A watcher must not end a call.
  }
}

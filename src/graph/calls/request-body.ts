/** The body of a request of undici: bytes, a form, or a stream that can be read but once. */

import { isObject } from '../../json/index.ts'
import type { CallBody } from './call.ts'

type Chunks = AsyncIterator<unknown> | Iterator<unknown>

/** A body that may be read before it is sent. */
export class RequestBody implements CallBody {
  readonly #source: unknown
  #chunks: Chunks | undefined
  readonly #taken: Uint8Array[] = []
  #bytes = 0
  #isWhole = false
  /** Type that a form has with the boundary that it was written with. */
  contentType: string | undefined

  constructor(source: unknown) {
    this.#source = source
    const whole = bytesOf(source)
    if (whole === undefined) return
    this.#taken.push(whole)
    this.#bytes = whole.byteLength
    this.#isWhole = true
  }

  /** True if a part of a stream was read. */
  get isOpened(): boolean {
    return this.#chunks !== undefined
  }

  get length(): number | undefined {
    return this.#isWhole
      ? this.#bytes
      : this.#source instanceof Blob
      ? this.#source.size
      : undefined
  }

  read: CallBody['read'] = async (maxBytes) => {
    while (!this.#isWhole && this.#bytes <= maxBytes) {
      const next = await this.#open().next()
      if (next.done === true) this.#isWhole = true
      else this.#take(next.value)
    }
    return this.#isWhole && this.#bytes <= maxBytes ? joined(this.#taken) : undefined
  }

  /** The body to send. `sent` is called with each part of it. */
  outgoing(sent?: (chunk: Uint8Array) => void): unknown {
    if (bytesOf(this.#source) !== undefined || (!this.isOpened && sent === undefined)) {
      if (this.#bytes > 0) sent?.(this.#taken[0]!)
      return this.#source
    }
    if (this.#isWhole) {
      const whole = joined(this.#taken)
      sent?.(whole)
      return whole
    }
    return this.#rest(sent)
  }

  async *#rest(sent: ((chunk: Uint8Array) => void) | undefined): AsyncGenerator<Uint8Array> {
    const chunks = this.#open()
    try {
      for (const chunk of this.#taken) {
        sent?.(chunk)
        yield chunk
      }
      for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
        const chunk = chunkOf(next.value)
        sent?.(chunk)
        yield chunk
      }
    } finally {
      await chunks.return?.()
    }
  }

  #take(value: unknown): void {
    const chunk = chunkOf(value)
    this.#taken.push(chunk)
    this.#bytes += chunk.byteLength
  }

  /** The source as chunks. */
  #open(): Chunks {
    if (this.#chunks !== undefined) return this.#chunks
    let source = this.#source
    if (source instanceof Blob) source = source.stream()
    if (isForm(source)) {
      const written = new Response(copyOf(source))
      this.contentType = written.headers.get('content-type') ?? undefined
      source = written.body
    }
    this.#chunks = chunksOf(source)
    return this.#chunks
  }
}

/** The bytes of a source that is in memory; undefined for any other. */
function bytesOf(source: unknown): Uint8Array | undefined {
  if (source === undefined || source === null) return new Uint8Array()
  if (typeof source === 'string') return Buffer.from(source)
  if (ArrayBuffer.isView(source)) {
    return new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
  }
  return source instanceof ArrayBuffer ? new Uint8Array(source) : undefined
}

function chunkOf(value: unknown): Uint8Array {
  const chunk = bytesOf(value)
  if (chunk === undefined) throw new TypeError('A body has chunks that are no bytes.')
  return chunk
}

function chunksOf(source: unknown): Chunks {
  if (isObject(source)) {
    const async = source[Symbol.asyncIterator as never] as unknown
    if (typeof async === 'function') return async.call(source) as Chunks
    const sync = source[Symbol.iterator as never] as unknown
    if (typeof sync === 'function') return sync.call(source) as Chunks
  }
  throw new TypeError('A body is no stream.')
}

/** Parts of a form: text, and files of any copy of their class. */
type FormLike = Iterable<readonly [string, string | Blob & { readonly name?: string }]>

function isForm(source: unknown): source is FormLike {
  return isObject(source) && source[Symbol.toStringTag as never] === 'FormData'
}

/** A form of Node's own class, which alone knows how to write it. */
function copyOf(form: FormLike): FormData {
  const copy = new FormData()
  for (const [name, value] of form) {
    if (typeof value === 'string') copy.append(name, value)
    else copy.append(name, value, value.name ?? 'blob')
  }
  return copy
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
}

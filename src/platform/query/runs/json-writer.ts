/** Writes JSON as bytes: texts made here, and bytes that are put in as they are. */

import { HeddleError } from '../../../errors.ts'

/** Bytes that an answer may have. */
const answerBytesMax = 64 * 1024 * 1024
/** Bytes of a chunk in which bytes are collected. */
const chunkBytes = 256 * 1024
/** Characters of text that are collected before they become bytes. */
const collectedMax = 16 * 1024

/**
 * JSON in the making. Throws `too_large` if it becomes too long. Bytes are copied: what they are a
 * part of may be far longer, and would stay in memory.
 */
export class JsonWriter {
  readonly #full: Uint8Array[] = []
  readonly #bytesMax: number
  #chunk = new Uint8Array(chunkBytes)
  #used = 0
  #text = ''
  #bytes = 0

  constructor(bytesMax = answerBytesMax) {
    this.#bytesMax = bytesMax
  }

  /** Adds a text, or bytes. */
  add(part: string | Uint8Array): void {
    if (typeof part === 'string') {
      this.#text += part
      if (this.#text.length > collectedMax) this.#flush()
      return
    }
    this.#flush()
    this.#copy(part)
  }

  /** All of it, in a buffer of its own. */
  done(): Uint8Array {
    this.#flush()
    const whole = new Uint8Array(this.#bytes)
    let at = 0
    for (const chunk of [...this.#full, this.#chunk.subarray(0, this.#used)]) {
      whole.set(chunk, at)
      at += chunk.byteLength
    }
    return whole
  }

  #flush(): void {
    if (this.#text !== '') this.#copy(Buffer.from(this.#text))
    this.#text = ''
  }

  #copy(bytes: Uint8Array): void {
    this.#bytes += bytes.byteLength
    if (this.#bytes > this.#bytesMax) {
      throw new HeddleError('too_large', 'The answer would be longer than 64 MiB: ask for fewer ' +
        'runs at once, or select fewer of their fields.')
    }
    if (this.#used + bytes.byteLength > this.#chunk.byteLength) {
      this.#full.push(this.#chunk.subarray(0, this.#used))
      this.#chunk = new Uint8Array(Math.max(chunkBytes, bytes.byteLength))
      this.#used = 0
    }
    this.#chunk.set(bytes, this.#used)
    this.#used += bytes.byteLength
  }
}

/**
 * Protobuf messages with long texts. The library's writer would copy a text for each message around
 * it, in a buffer of up to six times its length; here each is encoded once and joined at the end.
 */

import { BinaryWriter } from '@bufbuild/protobuf/wire'

/** Longer texts and bytes are kept apart until the end. */
export const longText = 64 * 1024

/** What this needs of the library's writer, which has no other way to a place in its buffer. */
interface Inside {
  pos: number
  buffer: Uint8Array
  readonly stackPos: number[]
  ensureCapacity(size: number): void
}

interface Piece {
  /** In the writer's buffer, into which it does not go. */
  at: number
  readonly bytes: Uint8Array
}

export class LongMessageWriter extends BinaryWriter {
  readonly #pieces: Piece[] = []

  override string(value: string): this {
    return value.length > longText ? this.#add(Buffer.from(value)) : super.string(value)
  }

  override bytes(value: Uint8Array): this {
    return value.byteLength > longText ? this.#add(value) : super.bytes(value)
  }

  override join(): this {
    const inside = this.#inside()
    // One byte was left free for the length.
    const begin = inside.stackPos.at(-1)! + 1
    const first = this.#pieces.findLastIndex(({ at }) => at < begin) + 1
    if (first === this.#pieces.length) return super.join()
    const within = this.#pieces.slice(first)
    const end = inside.pos
    const length = within.reduce((sum, { bytes }) => sum + bytes.byteLength, end - begin)
    // Written behind the rest, to see how many bytes it takes.
    this.uint32(length)
    const prefix = inside.buffer.slice(end, inside.pos)
    inside.ensureCapacity(prefix.length)
    const shift = prefix.length - 1
    inside.buffer.copyWithin(begin + shift, begin, end)
    inside.buffer.set(prefix, begin - 1)
    inside.pos = end + shift
    inside.stackPos.pop()
    for (const piece of within) piece.at += shift
    return this
  }

  /** What was written, in order. */
  parts(): Uint8Array[] {
    const rest = super.finish()
    const parts: Uint8Array[] = []
    let begin = 0
    for (const { at, bytes } of this.#pieces) {
      parts.push(rest.subarray(begin, at), bytes)
      begin = at
    }
    parts.push(rest.subarray(begin))
    return parts
  }

  #add(bytes: Uint8Array): this {
    this.uint32(bytes.byteLength)
    this.#pieces.push({ at: this.#inside().pos, bytes })
    return this
  }

  #inside(): Inside {
    return this as unknown as Inside
  }
}

/** One array of all of them. */
export function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.byteLength
  }
  return whole
}

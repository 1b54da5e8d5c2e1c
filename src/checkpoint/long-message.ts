/**
 * Protobuf messages with long texts. The library's writer would copy a text for each message around
 * it, in a buffer of up to six times its length. Here each text is encoded once and joined at the
 * end.
 */

import { BinaryWriter } from '@bufbuild/protobuf/wire'

/**
 * Length up to which texts and bytes are written at once. Longer ones are kept apart until the end.
 */
const shortText = 1024

/** Bytes and characters that are written at once, which takes a few milliseconds. */
const stepBytes = 4 * 1024 * 1024

/**
 * The parts of the library's writer that are needed. It has no other way to a place in its buffer.
 */
interface Inside {
  pos: number
  buffer: Uint8Array
  readonly stackPos: number[]
  ensureCapacity(size: number): void
}

interface Piece {
  /** Position in the writer's buffer at which the content belongs; it is not copied into it. */
  at: number
  readonly content: string | Uint8Array
  readonly bytes: number
}

/** A writer for one long message. Read its bytes with `steps`. */
export class LongMessageWriter extends BinaryWriter {
  readonly #pieces: Piece[] = []

  override string(value: string): this {
    if (value.length <= shortText) return super.string(value)
    return this.#add(value, Buffer.byteLength(value))
  }

  override bytes(value: Uint8Array): this {
    const { byteLength } = value
    return byteLength <= shortText ? super.bytes(value) : this.#add(value, byteLength)
  }

  override join(): this {
    const inside = this.#inside()
    // One byte was left free for the length.
    const begin = inside.stackPos.at(-1)! + 1
    const first = this.#pieces.findLastIndex(({ at }) => at < begin) + 1
    if (first === this.#pieces.length) return super.join()
    const within = this.#pieces.slice(first)
    const end = inside.pos
    const length = within.reduce((sum, { bytes }) => sum + bytes, end - begin)
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

  /** All that was written, in steps of at least `stepBytes`. The last step returns it. */
  *steps(): Generator<undefined, Uint8Array> {
    const rest = super.finish()
    const pieces = this.#pieces
    const whole = Buffer.allocUnsafeSlow(
      pieces.reduce((sum, { bytes }) => sum + bytes, rest.byteLength),
    )
    let [from, at, step] = [0, 0, stepBytes]
    const put = (bytes: Uint8Array) => {
      whole.set(bytes, at)
      at += bytes.byteLength
    }
    for (const piece of pieces) {
      put(rest.subarray(from, piece.at))
      from = piece.at
      for (const part of partsOf(piece.content)) {
        if (typeof part === 'string') at += whole.write(part, at)
        else put(part)
        if (at < step) continue
        step = at + stepBytes
        yield
      }
    }
    put(rest.subarray(from))
    return whole
  }

  #add(content: string | Uint8Array, bytes: number): this {
    this.uint32(bytes)
    this.#pieces.push({ at: this.#inside().pos, content, bytes })
    return this
  }

  #inside(): Inside {
    return this as unknown as Inside
  }
}

/** Parts of a content. Pairs of surrogates stay together. */
function* partsOf(content: string | Uint8Array): Generator<string | Uint8Array> {
  if (typeof content !== 'string' || content.length <= stepBytes) return yield content
  for (let from = 0, to; from < content.length; from = to) {
    to = Math.min(from + stepBytes, content.length)
    const last = content.charCodeAt(to - 1)
    if (last >= 0xd800 && last <= 0xdbff && to < content.length) to--
    yield content.slice(from, to)
  }
}

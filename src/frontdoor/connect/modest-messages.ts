/**
 * Bounds the bytes of a call before the library reads them: the length of a message in JSON, and
 * the fields and elements of any message.
 */

import type { DescMessage } from '@bufbuild/protobuf'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { ConnectError } from '@connectrpc/connect'
import type { UniversalHandler } from '@connectrpc/connect/protocol'

import { CodedError, HeddleError } from '../../errors.ts'
import { requireModest } from '../../json/index.ts'
import { asConnectError } from './connect-error.ts'

/** Fields of a message and of the messages inside it. Each element of a list counts. */
const fieldsMax = 50_000
/** Bounded, because the library parses JSON, and decodes bytes in it, on the main thread. */
const jsonBytesMax = 4 * 1024 * 1024
/** Bytes before each message: a flag and the length. Unary calls of Connect have none. */
const envelopeBytes = 5

/** Wraps a handler. Messages beyond the bounds are refused with `invalid` or `too_large`. */
export function modest(handler: UniversalHandler, readMaxBytes: number): UniversalHandler {
  const { method: { input } } = handler
  return Object.assign((request: Parameters<UniversalHandler>[0]) => {
    const { body, header } = request
    if (!isStream(body)) return handler(request)
    const type = header.get('content-type') ?? ''
    const check = (bytes: Uint8Array) => requireModestMessage(bytes, input, type)
    return handler({ ...request, body: checked(body, { type, readMaxBytes, check }) })
  }, handler)
}

function isStream(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}

const isJson = (type: string) => /json/.test(type)

/** Checks messages one by one. Too long ones are passed on, as the library refuses them. */
async function* checked(body: AsyncIterable<Uint8Array>, { type, readMaxBytes, check }: {
  readonly type: string
  readonly readMaxBytes: number
  check(bytes: Uint8Array): void
}): AsyncGenerator<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    length += chunk.byteLength
    if (isJson(type) && length > jsonBytesMax) {
      throw asConnectError(new HeddleError('too_large', 'A call in JSON may have 4 MB: send ' +
        'longer ones in the binary format.'))
    }
    if (length > readMaxBytes + envelopeBytes) yield* chunks.splice(0)
  }
  const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
  try {
    if (chunks.length > 0) check(bytes)
  } catch (error) {
    throw error instanceof ConnectError ? error : asConnectError(HeddleError.from(error))
  }
  yield bytes
}

function requireModestMessage(bytes: Uint8Array, message: DescMessage, type: string): void {
  const isUnary = /^application\/(json|proto)\b/.test(type)
  const payload = isUnary ? bytes : bytes.subarray(envelopeBytes)
  if (isJson(type)) requireModest('The message', payload, fieldsMax)
  else requireFewFields(payload, message)
}

/** Counts fields. Bytes that are no message are left to the library. */
function requireFewFields(bytes: Uint8Array, message: DescMessage): void {
  let fields = 0
  const look = (reader: BinaryReader, end: number, desc: DescMessage) => {
    while (reader.pos < end) {
      const [number, type] = reader.tag()
      if (++fields > fieldsMax) {
        throw new HeddleError('invalid', `The message has more than ${fieldsMax} fields.`)
      }
      const field = desc.fields.find((each) => each.number === number)
      if (type === WireType.LengthDelimited) {
        const after = reader.uint32() + reader.pos
        if (field?.message !== undefined) look(reader, Math.min(after, end), field.message)
        reader.pos = after
      } else if (type !== WireType.StartGroup && type !== WireType.EndGroup) reader.skip(type)
    }
  }
  try {
    look(new BinaryReader(bytes), bytes.byteLength, message)
  } catch (error) {
    if (error instanceof CodedError) throw error
  }
}

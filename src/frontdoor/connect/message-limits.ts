/**
 * Bounds the bytes of a call before the library reads them: the length of a message in JSON, and
 * the fields and elements of any message.
 */

import type { DescMessage } from '@bufbuild/protobuf'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { ConnectError, createContextKey } from '@connectrpc/connect'
import type { UniversalHandler } from '@connectrpc/connect/protocol'

import { CodedError, HeddleError } from '../../errors.ts'
import { requireModest } from '../../json/index.ts'
import { bodyTooLarge } from '../mount/index.ts'
import { asConnectError } from './connect-error.ts'

/** Fields of a message and of the messages inside it. Each element of a list counts. */
const fieldsMax = 50_000
/** Bounded, because the library parses JSON, and decodes bytes in it, on the main thread. */
const jsonBytesMax = 4 * 1024 * 1024
/** Bytes before each message: a flag and the length. Unary calls of Connect have none. */
const envelopeBytes = 5

/** The context value that carries how many bytes the deployment takes that is called. */
export const bodyBytesMaxKey = createContextKey(Infinity, { description: 'bytes of a body' })

/** Wraps a handler. Messages beyond the bounds are refused with `invalid` or `too_large`. */
export function modest(handler: UniversalHandler, readMaxBytes: number): UniversalHandler {
  const { method: { input } } = handler
  return Object.assign((request: Parameters<UniversalHandler>[0]) => {
    const { body, header, contextValues } = request
    if (!isStream(body)) return handler(request)
    const type = header.get('content-type') ?? ''
    const check = (bytes: Uint8Array) => requireModestMessage(bytes, input, type)
    const bodyBytesMax = contextValues?.get(bodyBytesMaxKey) ?? Infinity
    return handler({ ...request, body: checked(body, { type, readMaxBytes, bodyBytesMax, check }) })
  }, handler)
}

function isStream(body: unknown): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && body !== null && Symbol.asyncIterator in body
}

const isJson = (type: string) => /json/.test(type)

interface Bounds {
  readonly type: string
  readonly readMaxBytes: number
  readonly bodyBytesMax: number
  check(bytes: Uint8Array): void
}

/**
 * Checks messages one by one. Those that the library refuses are passed on. Of others that are too
 * long the rest is read and dropped: a client over HTTP/1.1 sees no answer before it has sent all.
 */
async function* checked(body: AsyncIterable<Uint8Array>,
  bounds: Bounds): AsyncGenerator<Uint8Array> {
  let chunks: Uint8Array[] = []
  let length = 0
  let fault: HeddleError | undefined
  for await (const chunk of body) {
    length += chunk.byteLength
    fault ??= lengthFault(length, bounds)
    if (fault !== undefined) {
      chunks = []
      continue
    }
    chunks.push(chunk)
    if (length > bounds.readMaxBytes + envelopeBytes) yield* chunks.splice(0)
  }
  if (fault !== undefined) throw asConnectError(fault)
  const bytes = chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
  try {
    if (chunks.length > 0) bounds.check(bytes)
  } catch (error) {
    throw error instanceof ConnectError ? error : asConnectError(HeddleError.from(error))
  }
  yield bytes
}

function lengthFault(length: number, { type, bodyBytesMax }: Bounds): HeddleError | undefined {
  if (length > bodyBytesMax) return bodyTooLarge(bodyBytesMax)
  if (!isJson(type) || length <= jsonBytesMax) return undefined
  return new HeddleError('too_large', 'A call in JSON may have 4 MB: send longer ones in the ' +
    'binary format.')
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

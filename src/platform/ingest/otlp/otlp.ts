/** Bodies of OpenTelemetry: protobuf or JSON, read into one form. */

import { isUtf8 } from 'node:buffer'

import { Resource, TraceRequest, TraceResponse } from '../../../../proto/gen/otlp/v1/trace.ts'
import type { AnyValue, KeyValue } from '../../../../proto/gen/otlp/v1/trace.ts'
import { HeddleError } from '../../../errors.ts'
import { isObject, jsonOf } from '../../../json/index.ts'
import { requireFewMessages, requireFewObjects, SharedBytes } from './otlp-size.ts'

/** The value of an attribute. */
export type AttributeValue = string | number | boolean | null | readonly AttributeValue[] | {
  readonly [key: string]: AttributeValue
}

/** Attributes by their keys. */
export type Attributes = ReadonlyMap<string, AttributeValue>

/** A span of OpenTelemetry. Ids are in hex, as long as the exporter wrote them. */
export interface OtlpSpan {
  readonly traceId: string
  readonly spanId: string
  /** Empty for a root. */
  readonly parentId: string
  readonly name: string
  readonly startUs: number
  readonly endUs: number
  readonly attributes: Attributes
  readonly events: readonly { readonly name: string; readonly timeUs: number;
    readonly attributes: Attributes }[]
  readonly status: { readonly failed: boolean; readonly message: string }
}

/** The two encodings. */
export type OtlpEncoding = 'protobuf' | 'json'

/** Spans that one body may have: what collectors send at once. */
const spansMax = 20_000
/** Levels of lists and maps in an attribute. */
const depthMax = 32

/** The encoding that a content type names. Throws `unsupported`. */
export function otlpEncodingOf(contentType: string): OtlpEncoding {
  if (/^\s*application\/x-protobuf\b/i.test(contentType)) return 'protobuf'
  if (/^\s*application\/json\b/i.test(contentType)) return 'json'
  throw new HeddleError('unsupported', 'Send application/x-protobuf or application/json.')
}

/** The spans of a body. Throws `malformed` if it cannot be read, `too_large` for too many. */
export function readOtlp(body: Uint8Array, encoding: OtlpEncoding): readonly OtlpSpan[] {
  const spans = encoding === 'protobuf' ? spansOfBytes(body) : spansOfJson(body)
  if (spans.length > spansMax) {
    throw new HeddleError('too_large', `One request may have ${spansMax} spans.`)
  }
  return spans
}

/** The body of the answer. With rejected spans it says how many, and why. */
export function otlpAnswer(encoding: OtlpEncoding, rejected: readonly string[]): Uint8Array {
  const errorMessage = [...new Set(rejected)].slice(0, 3).join(' ')
  if (encoding === 'json') {
    return Buffer.from(rejected.length === 0 ? '{}' : JSON.stringify({
      partialSuccess: { rejectedSpans: String(rejected.length), errorMessage },
    }))
  }
  if (rejected.length === 0) return new Uint8Array()
  return TraceResponse.encode({
    partialSuccess: { rejectedSpans: String(rejected.length), errorMessage },
  }).finish()
}

function spansOfBytes(body: Uint8Array): OtlpSpan[] {
  requireFewMessages(body)
  const sharedBytes = new SharedBytes()
  let request
  try {
    request = TraceRequest.decode(body)
  } catch {
    throw new HeddleError('malformed', 'The body is no trace request of OpenTelemetry.')
  }
  return request.resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const shared = attributesOf(resource?.attributes ?? [])
    sharedBytes.add({ attributes: shared.size,
      bytes: resource === undefined ? 0 : Resource.encode(resource).finish().byteLength,
      spans: scopeSpans.reduce((sum, { spans }) => sum + spans.length, 0) })
    return scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        traceId: span.traceId.toString('hex'),
        spanId: span.spanId.toString('hex'),
        parentId: span.parentSpanId.toString('hex'),
        name: span.name,
        startUs: microseconds(span.startTimeUnixNano),
        endUs: microseconds(span.endTimeUnixNano),
        attributes: new Map([...shared, ...attributesOf(span.attributes)]),
        events: span.events.map((event) => ({ name: event.name,
          timeUs: microseconds(event.timeUnixNano), attributes: attributesOf(event.attributes) })
        ),
        status: { failed: span.status?.code === failedCode, message: span.status?.message ?? '' },
      }))
    )
  })
}

const failedCode = 2

function attributesOf(pairs: readonly KeyValue[]): Attributes {
  return new Map(pairs.map(({ key, value }) => [key, valueOf(value, 0)]))
}

function valueOf(wrapped: AnyValue | undefined, depth: number): AttributeValue {
  const value = wrapped?.value
  if (value === undefined || depth > depthMax) return null
  switch (value.$case) {
    case 'stringValue':
    case 'boolValue':
    case 'doubleValue':
      return value.value
    case 'intValue':
      return Number(value.value)
    case 'bytesValue':
      return textOfBytes(value.value)
    case 'arrayValue':
      return value.value.values.map((each) => valueOf(each, depth + 1))
    case 'kvlistValue':
      return Object.fromEntries(
        value.value.values.map((each) => [each.key, valueOf(each.value, depth + 1)]),
      )
  }
}

/** Bytes that are no text are in base64. The client for Python sends its JSON as bytes. */
function textOfBytes(bytes: Buffer): string {
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'base64')
}

/** Nanoseconds as microseconds: numbers hold these. */
function microseconds(nanoseconds: string): number {
  return Number(nanoseconds.slice(0, -3) || 0)
}

/** Reads members by the names of the protocol's JSON. What has another type counts as absent. */
function spansOfJson(body: Uint8Array): OtlpSpan[] {
  requireFewObjects(body)
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()
  const request = jsonOf('The body', text)
  if (!isObject(request)) {
    throw new HeddleError('malformed', 'The body is no trace request of OpenTelemetry.')
  }
  const sharedBytes = new SharedBytes()
  return objectsIn(request['resourceSpans']).flatMap(({ resource, scopeSpans }) => {
    const shared = attributesIn(isObject(resource) ? objectsIn(resource['attributes']) : [])
    sharedBytes.add({ attributes: shared.size, bytes: bytesOfAttributes(shared),
      spans: objectsIn(scopeSpans).reduce((sum, { spans }) => sum + objectsIn(spans).length, 0) })
    return objectsIn(scopeSpans).flatMap(({ spans }) =>
      objectsIn(spans).map((span) => {
        const status = isObject(span['status']) ? span['status'] : {}
        return {
          traceId: idIn(span['traceId']),
          spanId: idIn(span['spanId']),
          parentId: idIn(span['parentSpanId']),
          name: textIn(span['name']),
          startUs: microseconds(digitsIn(span['startTimeUnixNano'])),
          endUs: microseconds(digitsIn(span['endTimeUnixNano'])),
          attributes: new Map([...shared, ...attributesIn(objectsIn(span['attributes']))]),
          events: objectsIn(span['events']).map((event) => ({ name: textIn(event['name']),
            timeUs: microseconds(digitsIn(event['timeUnixNano'])),
            attributes: attributesIn(objectsIn(event['attributes'])) })
          ),
          status: { failed: status['code'] === failedCode || status['code'] === 'STATUS_CODE_ERROR',
            message: textIn(status['message']) },
        }
      })
    )
  })
}

type JsonMembers = Readonly<Record<string, unknown>>

function objectsIn(value: unknown): readonly JsonMembers[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function idIn(value: unknown): string {
  return /^[0-9a-f]*$/i.test(textIn(value)) ? textIn(value).toLowerCase() : ''
}

/** Numbers of 64 bits are texts; some exporters write them as numbers. */
function digitsIn(value: unknown): string {
  const text = typeof value === 'number' && Number.isFinite(value)
    ? BigInt(Math.round(value)).toString()
    : textIn(value)
  return /^\d{1,20}$/.test(text) ? text : ''
}

/** As JSON: nothing in them is deeper than `depthMax`. */
function bytesOfAttributes(attributes: Attributes): number {
  return JSON.stringify([...attributes]).length
}

function attributesIn(pairs: readonly JsonMembers[]): Attributes {
  return new Map(
    pairs.flatMap(({ key, value }) =>
      typeof key === 'string' ? [[key, jsonValueOf(value, 0)]] : []
    ),
  )
}

function jsonValueOf(wrapped: unknown, depth: number): AttributeValue {
  if (!isObject(wrapped) || depth > depthMax) return null
  const { stringValue, boolValue, intValue, doubleValue, bytesValue, arrayValue, kvlistValue } =
    wrapped as JsonMembers
  if (typeof stringValue === 'string') return stringValue
  if (typeof boolValue === 'boolean') return boolValue
  if (typeof intValue === 'string' || typeof intValue === 'number') return Number(intValue)
  if (typeof doubleValue === 'number') return doubleValue
  if (typeof bytesValue === 'string') return textOfBytes(Buffer.from(bytesValue, 'base64'))
  if (isObject(arrayValue)) {
    return objectsIn(arrayValue['values']).map((each) => jsonValueOf(each, depth + 1))
  }
  if (!isObject(kvlistValue)) return null
  return Object.fromEntries(
    objectsIn(kvlistValue['values']).map((
      { key, value },
    ) => [textIn(key), jsonValueOf(value, depth + 1)]),
  )
}

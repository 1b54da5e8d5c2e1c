/**
 * Spans in a body of JSON. Members are read by the names of the protocol's JSON. What has another
 * type counts as absent.
 */

import { HeddleError } from '../../../errors.ts'
import { isObject, jsonOf } from '../../../json/index.ts'
import { SpanAttributes } from './otlp-attributes.ts'
import type { AttributeValue } from './otlp-attributes.ts'
import { originOf } from './otlp-origin.ts'
import type { Described } from './otlp-origin.ts'
import { requireFewObjects, SharedBytes } from './otlp-size.ts'
import { failedCode, okCode } from './otlp-span.ts'
import type { OtlpSpan, SpanOrigin } from './otlp-span.ts'
import { depthMax, double, integer, microseconds, textOfBytes } from './otlp-value.ts'

/** Reads a body. Throws `malformed` or `too_large`. */
export function spansOfJson(body: Uint8Array): OtlpSpan[] {
  requireFewObjects(body)
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()
  const request = jsonOf('The body', text)
  if (!isObject(request)) {
    throw new HeddleError('malformed', 'The body is no trace request of OpenTelemetry.')
  }
  const sharedBytes = new SharedBytes()
  return objectsIn(request['resourceSpans']).flatMap((ofResource) => {
    const shared = describedIn(ofResource['resource'], ofResource['schemaUrl'])
    const scopes = objectsIn(ofResource['scopeSpans'])
    charge(sharedBytes, shared, scopes.reduce((sum, { spans }) => sum + objectsIn(spans).length, 0))
    return scopes.flatMap((ofScope) => {
      const spans = objectsIn(ofScope['spans'])
      const origin = originIn(ofScope, shared, (scope) => charge(sharedBytes, scope, spans.length))
      return spans.map((span) => spanOf(span, shared, origin))
    })
  })
}

type JsonMembers = Readonly<Record<string, unknown>>

/** Attributes as JSON: nothing in them is deeper than `depthMax`. */
function charge(sharedBytes: SharedBytes, { attributes, schemaUrl }: Described,
  spans: number): void {
  sharedBytes.add({ attributes: attributes.size, spans,
    bytes: JSON.stringify([...attributes]).length + schemaUrl.length })
}

function describedIn(value: unknown, schemaUrl: unknown): Described {
  const members: JsonMembers = isObject(value) ? value : {}
  return { attributes: attributesIn(members['attributes']),
    dropped: countIn(members['droppedAttributesCount']), schemaUrl: textIn(schemaUrl) }
}

function originIn({ scope, schemaUrl }: JsonMembers, resource: Described,
  charged: (scope: Described) => void): SpanOrigin {
  const described = describedIn(scope, schemaUrl)
  const { name, version }: JsonMembers = isObject(scope) ? scope : {}
  const texts = { name: textIn(name), version: textIn(version) }
  charged({ ...described, schemaUrl: described.schemaUrl + texts.name + texts.version })
  return originOf({ ...described, ...texts }, resource)
}

function spanOf(span: JsonMembers, { attributes: shared }: Described,
  origin: SpanOrigin): OtlpSpan {
  return {
    traceId: idIn(span['traceId']),
    spanId: idIn(span['spanId']),
    parentId: idIn(span['parentSpanId']),
    name: textIn(span['name']),
    startUs: timeIn(span['startTimeUnixNano']),
    endUs: timeIn(span['endTimeUnixNano']),
    attributes: new SpanAttributes(attributesIn(span['attributes']), shared),
    events: objectsIn(span['events']).map((event) => ({ name: textIn(event['name']),
      timeUs: timeIn(event['timeUnixNano']), attributes: attributesIn(event['attributes']),
      dropped: countIn(event['droppedAttributesCount']) })
    ),
    status: statusIn(isObject(span['status']) ? span['status'] : {}),
    kind: codeIn(span['kind'], kindNames),
    traceState: textIn(span['traceState']),
    flags: countIn(span['flags']),
    links: objectsIn(span['links']).map((link) => ({ traceId: idIn(link['traceId']),
      spanId: idIn(link['spanId']), traceState: textIn(link['traceState']),
      attributes: attributesIn(link['attributes']), flags: countIn(link['flags']),
      dropped: countIn(link['droppedAttributesCount']) })
    ),
    dropped: { attributes: countIn(span['droppedAttributesCount']),
      events: countIn(span['droppedEventsCount']), links: countIn(span['droppedLinksCount']) },
    origin,
  }
}

/** Codes by their names: the protocol asks for numbers, and some exporters write names. */
const statusNames: Codes = { STATUS_CODE_OK: okCode, STATUS_CODE_ERROR: failedCode }
const kindNames: Codes = { SPAN_KIND_INTERNAL: 1, SPAN_KIND_SERVER: 2, SPAN_KIND_CLIENT: 3,
  SPAN_KIND_PRODUCER: 4, SPAN_KIND_CONSUMER: 5 }

type Codes = Readonly<Record<string, number>>

function codeIn(value: unknown, names: Codes): number {
  return typeof value === 'string' && Object.hasOwn(names, value) ? names[value]! : countIn(value)
}

function statusIn({ code, message }: JsonMembers): OtlpSpan['status'] {
  return { code: codeIn(code, statusNames), message: textIn(message) }
}

function objectsIn(value: unknown): readonly JsonMembers[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function countIn(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}

function idIn(value: unknown): string {
  return /^[0-9a-f]*$/i.test(textIn(value)) ? textIn(value).toLowerCase() : ''
}

/** Numbers of 64 bits are texts; some exporters write them as numbers. */
function timeIn(value: unknown): number {
  const text = typeof value === 'number' && Number.isFinite(value)
    ? BigInt(Math.round(value)).toString()
    : textIn(value)
  return /^\d{1,20}$/.test(text) ? microseconds(text) : 0
}

function attributesIn(pairs: unknown): ReadonlyMap<string, AttributeValue> {
  return new Map(
    objectsIn(pairs).flatMap(({ key, value }) =>
      typeof key === 'string' ? [[key, valueOf(value, 0)]] : []
    ),
  )
}

function valueOf(wrapped: unknown, depth: number): AttributeValue {
  if (!isObject(wrapped) || depth > depthMax) return null
  const { stringValue, boolValue, intValue, doubleValue, bytesValue, arrayValue, kvlistValue } =
    wrapped as JsonMembers
  if (typeof stringValue === 'string') return stringValue
  if (typeof boolValue === 'boolean') return boolValue
  if (typeof intValue === 'string' || typeof intValue === 'number') return integer(intValue)
  // Numbers that JSON has no form for are texts.
  if (typeof doubleValue === 'number' || typeof doubleValue === 'string') {
    return double(Number(doubleValue))
  }
  if (typeof bytesValue === 'string') return textOfBytes(Buffer.from(bytesValue, 'base64'))
  if (isObject(arrayValue)) {
    return objectsIn(arrayValue['values']).map((each) => valueOf(each, depth + 1))
  }
  if (!isObject(kvlistValue)) return null
  return Object.fromEntries(
    objectsIn(kvlistValue['values']).map((
      { key, value },
    ) => [textIn(key), valueOf(value, depth + 1)]),
  )
}

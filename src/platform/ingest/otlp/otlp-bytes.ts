/** Spans in a body of protobuf. */

import { Resource, Scope, TraceRequest } from '../../../../proto/gen/otlp/v1/trace.ts'
import type { AnyValue, KeyValue, OtlpSpan as SpanMessage, ResourceSpans,
  ScopeSpans } from '../../../../proto/gen/otlp/v1/trace.ts'
import { HeddleError } from '../../../errors.ts'
import { SpanAttributes } from './otlp-attributes.ts'
import type { AttributeValue } from './otlp-attributes.ts'
import { originOf } from './otlp-origin.ts'
import type { Described } from './otlp-origin.ts'
import { requireFewMessages, SharedBytes } from './otlp-size.ts'
import type { OtlpSpan, SpanOrigin } from './otlp-span.ts'
import { depthMax, double, integer, microseconds, textOfBytes } from './otlp-value.ts'

/** Reads a body. Throws `malformed` or `too_large`. */
export function spansOfBytes(body: Uint8Array): OtlpSpan[] {
  requireFewMessages(body)
  const sharedBytes = new SharedBytes()
  return decoded(body).flatMap(({ resource, schemaUrl, scopeSpans }) => {
    const shared: Described = { attributes: attributesOf(resource?.attributes ?? []),
      dropped: resource?.droppedAttributesCount ?? 0, schemaUrl }
    sharedBytes.add({ attributes: shared.attributes.size,
      bytes: schemaUrl.length + (resource ? Resource.encode(resource).finish().byteLength : 0),
      spans: scopeSpans.reduce((sum, { spans }) => sum + spans.length, 0) })
    return scopeSpans.flatMap((ofScope) => {
      const origin = originIn(ofScope, shared, sharedBytes)
      return ofScope.spans.map((span) => spanOf(span, shared, origin))
    })
  })
}

function decoded(body: Uint8Array): readonly ResourceSpans[] {
  try {
    return TraceRequest.decode(body).resourceSpans
  } catch {
    throw new HeddleError('malformed', 'The body is no trace request of OpenTelemetry.')
  }
}

function originIn({ scope, schemaUrl, spans }: ScopeSpans, resource: Described,
  sharedBytes: SharedBytes): SpanOrigin {
  const attributes = attributesOf(scope?.attributes ?? [])
  sharedBytes.add({ attributes: attributes.size, spans: spans.length,
    bytes: schemaUrl.length + (scope ? Scope.encode(scope).finish().byteLength : 0) })
  return originOf({ name: scope?.name ?? '', version: scope?.version ?? '', attributes, schemaUrl,
    dropped: scope?.droppedAttributesCount ?? 0 }, resource)
}

function spanOf(span: SpanMessage, { attributes: shared }: Described,
  origin: SpanOrigin): OtlpSpan {
  return {
    traceId: span.traceId.toString('hex'),
    spanId: span.spanId.toString('hex'),
    parentId: span.parentSpanId.toString('hex'),
    name: span.name,
    startUs: microseconds(span.startTimeUnixNano),
    endUs: microseconds(span.endTimeUnixNano),
    attributes: new SpanAttributes(attributesOf(span.attributes), shared),
    events: span.events.map((event) => ({ name: event.name,
      timeUs: microseconds(event.timeUnixNano), attributes: attributesOf(event.attributes),
      dropped: event.droppedAttributesCount })
    ),
    status: { code: span.status?.code ?? 0, message: span.status?.message ?? '' },
    kind: span.kind,
    traceState: span.traceState,
    flags: span.flags,
    links: span.links.map((link) => ({ traceId: link.traceId.toString('hex'),
      spanId: link.spanId.toString('hex'), traceState: link.traceState,
      attributes: attributesOf(link.attributes), dropped: link.droppedAttributesCount,
      flags: link.flags })
    ),
    dropped: { attributes: span.droppedAttributesCount, events: span.droppedEventsCount,
      links: span.droppedLinksCount },
    origin,
  }
}

function attributesOf(pairs: readonly KeyValue[]): ReadonlyMap<string, AttributeValue> {
  return new Map(pairs.map(({ key, value }) => [key, valueOf(value, 0)]))
}

function valueOf(wrapped: AnyValue | undefined, depth: number): AttributeValue {
  const value = wrapped?.value
  if (value === undefined || depth > depthMax) return null
  switch (value.$case) {
    case 'stringValue':
    case 'boolValue':
      return value.value
    case 'doubleValue':
      return double(value.value)
    case 'intValue':
      return integer(value.value)
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

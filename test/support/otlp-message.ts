/** Messages of OpenTelemetry in protobuf: what a test leaves out has its default. */

import { TraceRequest } from '../../proto/gen/otlp/v1/trace.ts'
import type { OtlpSpan, Resource, ResourceSpans, Scope, ScopeSpans, SpanEvent,
  SpanLink } from '../../proto/gen/otlp/v1/trace.ts'

/** Parts of a message, with parts of those in it. */
export interface SpanParts extends Partial<Omit<OtlpSpan, 'events' | 'links'>> {
  readonly events?: readonly Partial<SpanEvent>[]
  readonly links?: readonly Partial<SpanLink>[]
}

/** A resource with the spans of some scopes. */
export interface ResourceParts extends Partial<Omit<ResourceSpans, 'resource' | 'scopeSpans'>> {
  readonly resource?: Partial<Resource>
  readonly scopeSpans: readonly (Partial<Omit<ScopeSpans, 'scope' | 'spans'>> & {
    readonly scope?: Partial<Scope>
    readonly spans: readonly SpanParts[]
  })[]
}

/** The body of a request. */
export function otlpBytes(...resourceSpans: readonly ResourceParts[]): Uint8Array {
  return TraceRequest.encode({
    resourceSpans: resourceSpans.map(({ resource, scopeSpans, ...more }) => ({
      schemaUrl: '',
      ...more,
      resource: resource && { attributes: [], droppedAttributesCount: 0, ...resource },
      scopeSpans: scopeSpans.map(({ scope, spans, ...own }) => ({ schemaUrl: '', ...own,
        scope: scope &&
          { name: '', version: '', attributes: [], droppedAttributesCount: 0, ...scope },
        spans: spans.map(wholeSpan) })
      ),
    })),
  }).finish()
}

function wholeSpan({ events = [], links = [], ...span }: SpanParts): OtlpSpan {
  const none = Buffer.alloc(0)
  return { traceId: none, spanId: none, parentSpanId: none, traceState: '', name: '', kind: 0,
    startTimeUnixNano: '0', endTimeUnixNano: '0', attributes: [], droppedAttributesCount: 0,
    droppedEventsCount: 0, droppedLinksCount: 0, status: undefined, flags: 0, ...span,
    events: events.map((event) => ({ name: '', timeUnixNano: '0', attributes: [],
      droppedAttributesCount: 0, ...event })
    ),
    links: links.map((link) => ({ traceId: none, spanId: none, traceState: '', attributes: [],
      droppedAttributesCount: 0, flags: 0, ...link })
    ) }
}

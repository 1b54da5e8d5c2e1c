/**
 * A span as a request of OpenTelemetry, as files of its collector have them. The attributes are
 * those of LangSmith's clients, so that the span is the same when it is sent in again. Pure.
 */

import { isObject } from '../../../json/index.ts'
import { metadataOf } from '../payload/content.ts'
import type { Content } from '../payload/content.ts'
import type { PayloadField } from '../../spans/payload.ts'
import { readTimeUs } from '../../spans/time.ts'
import type { SpanHead, Uuid } from '../../spans/span.ts'

/** Value of an attribute. An object without members stands for null. */
type AnyValue =
  | Readonly<Record<string, never>>
  | { readonly stringValue: string }
  | { readonly boolValue: boolean }
  | { readonly intValue: string }
  | { readonly doubleValue: number }
  | { readonly arrayValue: { readonly values: readonly AnyValue[] } }
  | { readonly kvlistValue: { readonly values: readonly Attribute[] } }

interface Attribute {
  readonly key: string
  readonly value: AnyValue
}

/** Code of the status of a span that failed. */
const failedCode = 2
/** Keys of metadata that every imported span gets, so that exports leave them out. */
const ofOpenTelemetry = new Set(['OTEL_TRACE_ID', 'OTEL_SPAN_ID'])

/** The request with this one span. */
export function otlpRequest(head: SpanHead, content: Content, project: string): object {
  const { id, trace, parent, name, startUs, endUs } = head
  const error = content.value('error')
  return {
    resourceSpans: [{
      resource: { attributes: [attribute('service.name', 'heddle')] },
      scopeSpans: [{
        scope: { name: 'heddle' },
        spans: [{
          traceId: trace.replaceAll('-', ''),
          spanId: spanId(id),
          ...parent !== null && { parentSpanId: spanId(parent) },
          name: name ?? '',
          kind: 1,
          startTimeUnixNano: nanoseconds(startUs),
          endTimeUnixNano: nanoseconds(endUs ?? 0),
          attributes: [...attributesOf(head, content, project)],
          events: eventsOf(content),
          status: typeof error === 'string' && error !== ''
            ? { code: failedCode, message: error }
            : {},
        }],
      }],
    }],
  }
}

function* attributesOf(head: SpanHead, content: Content, project: string): Generator<Attribute> {
  const texts: readonly (readonly [string, string | null])[] = [
    ['langsmith.span.id', head.id],
    ['langsmith.trace.id', head.trace],
    ['langsmith.span.parent_id', head.parent],
    ['langsmith.span.dotted_order', head.dottedOrder],
    ['langsmith.trace.name', head.name],
    ['langsmith.trace.session_name', project],
    ['langsmith.span.kind', head.type],
    ['langsmith.reference_example_id', head.example],
    ['gen_ai.prompt', textOf(content, 'inputs')],
    ['gen_ai.completion', textOf(content, 'outputs')],
    ['llm.invocation_parameters', parametersOf(content)],
  ]
  for (const [key, text] of texts) if (text !== null) yield attribute(key, text)
  if (head.root === true) yield attribute('langsmith.is_root', true)
  const tags = content.value('tags')
  if (Array.isArray(tags) && tags.length > 0) yield attribute('langsmith.span.tags', tags)
  for (const [key, value] of Object.entries(metadataOf(content))) {
    if (!ofOpenTelemetry.has(key)) yield attribute(`langsmith.metadata.${key}`, value)
  }
}

/** JSON of a member with a value; null otherwise. */
function textOf({ payload }: Content, field: PayloadField): string | null {
  const text = payload[field]?.toString() ?? 'null'
  return text === 'null' ? null : text
}

function parametersOf(content: Content): string | null {
  const extra = content.value('extra')
  const parameters = isObject(extra) ? extra['invocation_params'] : undefined
  return isObject(parameters) && Object.keys(parameters).length > 0
    ? JSON.stringify(parameters)
    : null
}

function eventsOf(content: Content): readonly object[] {
  const events = content.value('events')
  if (!Array.isArray(events)) return []
  return events.filter(isObject).map(({ name, time, kwargs }) => ({
    name: String(name ?? 'event'),
    timeUnixNano: nanoseconds(readTimeUs(time) ?? 0),
    attributes: isObject(kwargs)
      ? Object.entries(kwargs).map(([key, value]) => attribute(key, value))
      : [],
  }))
}

function attribute(key: string, value: unknown): Attribute {
  return { key, value: anyValue(value) }
}

function anyValue(value: unknown): AnyValue {
  switch (typeof value) {
    case 'boolean':
      return { boolValue: value }
    case 'number':
      return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
    case 'string':
      return { stringValue: value }
    default:
      if (value === null || value === undefined) return {}
      if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } }
      return {
        kvlistValue: { values: Object.entries(value).map(([key, each]) => attribute(key, each)) },
      }
  }
}

/**
 * The first half of an id, which is enough to tell the spans of a trace apart. The whole id is an
 * attribute.
 */
function spanId(id: Uuid): string {
  return id.replaceAll('-', '').slice(16)
}

function nanoseconds(us: number): string {
  return us === 0 ? '0' : `${us}000`
}

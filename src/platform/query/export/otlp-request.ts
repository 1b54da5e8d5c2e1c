/**
 * A span as a request of OpenTelemetry, as files of its collector have them. The attributes are
 * those of LangSmith's clients, so that the span is the same when it is sent in again. Pure.
 */

import { isObject } from '../../../json/index.ts'
import { metadataOf } from '../payload/content.ts'
import type { Content } from '../payload/content.ts'
import { attributePrefix, exportedKey, keptKeys, resourcePrefix, scopeAttributeOf, scopePrefix,
  spanKinds } from '../../spans/otel-keys.ts'
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

/** Codes of a status. */
const [okCode, failedCode] = [1, 2]

/** Metadata by their keys. */
type Metadata = Readonly<Record<string, unknown>>

/** The request with this one span. */
export function otlpRequest(head: SpanHead, content: Content, project: string): object {
  const metadata = metadataOf(content)
  const [resource, scope] = [resourceOf(metadata), scopeOf(metadata)]
  const isMadeUp = resource === undefined && scope === undefined
  const own = isMadeUp
    ? { resource: { attributes: [attribute('service.name', 'heddle')] }, scope: { name: 'heddle' } }
    : { resource: resource ?? {}, scope: scope ?? {} }
  return {
    resourceSpans: [{
      resource: own.resource,
      ...schemaOf(metadata[keptKeys.resourceSchema]),
      scopeSpans: [{
        scope: own.scope,
        spans: [
          spanOf(head, content, [...attributesOf(head, content, project),
            attribute(exportedKey, !isMadeUp)]),
        ],
        ...schemaOf(metadata[keptKeys.scopeSchema]),
      }],
    }],
  }
}

function spanOf(head: SpanHead, content: Content, attributes: readonly Attribute[]): object {
  const { id, trace, parent, name, startUs, endUs } = head
  const metadata = metadataOf(content)
  const said = metadata[keptKeys.kind]
  const kind = spanKinds.indexOf(textIn(said))
  const dropped = droppedIn(metadata)
  return {
    traceId: trace.replaceAll('-', ''),
    spanId: spanId(id),
    ...parent !== null && { parentSpanId: spanId(parent) },
    ...memberOf('traceState', metadata[keptKeys.traceState]),
    name: textIn(metadata[keptKeys.name]) ?? name ?? '',
    kind: kind > 1 ? kind : isCount(said) ? said : 1,
    startTimeUnixNano: nanoseconds(startUs),
    endTimeUnixNano: nanoseconds(endUs ?? 0),
    attributes,
    ...memberOf('droppedAttributesCount', dropped['attributes']),
    events: eventsOf(content),
    ...memberOf('droppedEventsCount', dropped['events']),
    ...linksOf(metadata),
    ...memberOf('droppedLinksCount', dropped['links']),
    status: statusOf(content.value('error'), metadata),
    ...memberOf('flags', metadata[keptKeys.flags]),
  }
}

function statusOf(error: unknown, metadata: Metadata): object {
  const message = textIn(metadata[keptKeys.statusMessage])
  if (isText(error)) return { code: failedCode, message: error }
  return { ...metadata[keptKeys.status] === 'ok' && { code: okCode },
    ...message !== undefined && { message } }
}

/** Resource that the span was sent with; undefined if it had none. */
function resourceOf(metadata: Metadata): object | undefined {
  const attributes = Object.entries(metadata).flatMap(([key, value]) =>
    key.startsWith(resourcePrefix) ? [attribute(key.slice(resourcePrefix.length), value)] : []
  )
  const dropped = memberOf('droppedAttributesCount', droppedIn(metadata)['resource'])
  const isKnown = attributes.length > 0 || Object.keys(dropped).length > 0 ||
    metadata[keptKeys.resourceSchema] !== undefined
  return isKnown ? { attributes, ...dropped } : undefined
}

function scopeOf(metadata: Metadata): object | undefined {
  const attributes = Object.entries(metadata).flatMap(([key, value]) => {
    const name = scopeAttributeOf(key)
    return name === undefined ? [] : [attribute(name, value)]
  })
  const scope = { ...memberOf('name', metadata[`${scopePrefix}name`]),
    ...memberOf('version', metadata[`${scopePrefix}version`]),
    ...attributes.length > 0 && { attributes },
    ...memberOf('droppedAttributesCount', droppedIn(metadata)['scope']) }
  const isKnown = Object.keys(scope).length > 0 || metadata[keptKeys.scopeSchema] !== undefined
  return isKnown ? scope : undefined
}

function droppedIn(metadata: Metadata): Metadata {
  const dropped = metadata[keptKeys.dropped]
  return isObject(dropped) ? dropped : {}
}

function linksOf(metadata: Metadata): object {
  const links = metadata[keptKeys.links]
  if (!Array.isArray(links)) return {}
  return {
    links: links.filter(isObject).map((link) => ({ traceId: textIn(link['trace_id']) ?? '',
      spanId: textIn(link['span_id']) ?? '', ...memberOf('traceState', link['trace_state']),
      ...isObject(link['attributes']) && { attributes: attributesIn(link['attributes']) },
      ...memberOf('droppedAttributesCount', link['dropped']), ...memberOf('flags', link['flags']) })
    ),
  }
}

function schemaOf(url: unknown): object {
  return memberOf('schemaUrl', url)
}

/** The member; nothing for a value that is neither a text nor a count. */
function memberOf(name: string, value: unknown): object {
  return isText(value) || isCount(value) ? { [name]: value } : {}
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Attributes that say the run, which no other one may be taken for. */
const saysRun =
  /^(?:langsmith\.|heddle\.|gen_ai\.(?:prompt|completion)$|llm\.invocation_parameters$)/

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
  const hasFailed = isText(content.value('error'))
  for (const [key, value] of Object.entries(metadataOf(content))) {
    const name = key.startsWith(attributePrefix) ? key.slice(attributePrefix.length) : undefined
    if (name !== undefined && !saysRun.test(name)) yield attribute(name, value)
    else if (!isMember(key, value, hasFailed)) yield attribute(`langsmith.metadata.${key}`, value)
  }
}

/** The values that the members of a request have. A client may have said others by these keys. */
const memberValues: Readonly<Record<string, (value: unknown) => boolean>> = {
  [keptKeys.name]: isText,
  [keptKeys.kind]: (value) => spanKinds.indexOf(textIn(value)) > 1 || isCount(value),
  [keptKeys.status]: (value) => value === 'ok',
  [keptKeys.statusMessage]: isText,
  [keptKeys.traceState]: isText,
  [keptKeys.flags]: isCount,
  [keptKeys.links]: Array.isArray,
  [keptKeys.dropped]: isObject,
  [keptKeys.scopeSchema]: isText,
  [keptKeys.resourceSchema]: isText,
  [`${scopePrefix}name`]: isText,
  [`${scopePrefix}version`]: isText,
}

/** True for what other members of the request say. That of an error has no other status. */
function isMember(key: string, value: unknown, hasFailed: boolean): boolean {
  if (hasFailed && (key === keptKeys.status || key === keptKeys.statusMessage)) return false
  if (Object.hasOwn(memberValues, key)) return memberValues[key]!(value)
  return key.startsWith(resourcePrefix) || key.startsWith(scopePrefix)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}

/** JSON of a member with a value; null otherwise. */
function textOf({ payload }: Content, field: PayloadField): string | null {
  const text = payload[field]?.toString() ?? 'null'
  return text === 'null' ? null : text
}

function parametersOf(content: Content): string | null {
  const extra = content.value('extra')
  const parameters = isObject(extra) ? extra['invocation_params'] : undefined
  return isObject(parameters) ? JSON.stringify(parameters) : null
}

function eventsOf(content: Content): readonly object[] {
  const events = content.value('events')
  if (!Array.isArray(events)) return []
  return events.filter(isObject).map((
    { name, time, kwargs, dropped_attributes_count: dropped },
  ) => ({
    name: String(name ?? 'event'),
    timeUnixNano: nanoseconds(readTimeUs(time) ?? 0),
    attributes: isObject(kwargs) ? attributesIn(kwargs) : [],
    ...memberOf('droppedAttributesCount', dropped),
  }))
}

function attributesIn(values: Metadata): readonly Attribute[] {
  return Object.entries(values).map(([key, value]) => attribute(key, value))
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
      return { kvlistValue: { values: attributesIn(value as Metadata) } }
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

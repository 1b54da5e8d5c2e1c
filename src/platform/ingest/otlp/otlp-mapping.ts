/** Spans of OpenTelemetry as operations: the same members that LangSmith's clients send. */

import { isObject } from '../../../json/index.ts'
import { spanIdKey, traceIdKey } from '../../spans/otel-keys.ts'
import type { Uuid } from '../../spans/span.ts'
import { timeTextUs } from '../../spans/time.ts'
import { uuidOfBytes } from '../../../uuid-bytes.ts'
import { parsedText, takenNumber, takenObject, takenText, textAt } from './otlp-attributes.ts'
import type { AttributeValue, JsonObject, SpanAttributes } from './otlp-attributes.ts'
import { exportedMembers, isExported } from './otlp-exported.ts'
import { keptOf } from './otlp-kept.ts'
import { inputsOf, outputsOf } from './otlp-payload.ts'
import { splitNumbered } from './otlp-nested.ts'
import { failedCode } from './otlp-span.ts'
import type { OtlpSpan } from './otlp-span.ts'
import { typeOf } from './otlp-type.ts'
import { usageOf } from './otlp-usage.ts'

/** The members of a span as an operation has them. */
export type OtlpRun = Readonly<Record<string, unknown>> & { readonly id: Uuid;
  readonly trace_id: Uuid }

/** Result of a span: an operation, or the reason why there is none. */
export type MappedSpan =
  | { readonly run: OtlpRun }
  | { readonly rejected: { readonly id: string; readonly reason: string } }

/**
 * The operations of the spans of one request. Spans that name no project are in `project`. Each is
 * made when it is asked for: all together may take more memory than the request.
 */
export function* mapSpans(spans: readonly OtlpSpan[],
  project: string | undefined): Generator<MappedSpan, void, void> {
  for (const span of spans) {
    const fault = faultIn(span)
    yield fault !== undefined
      ? { rejected: { id: span.spanId, reason: fault } }
      : { run: runOf(span, project) }
  }
}

function faultIn({ traceId, spanId, startUs }: OtlpSpan): string | undefined {
  if (!/^(?!0+$)[0-9a-f]{32}$/.test(traceId)) return 'The trace id is not 16 bytes.'
  if (!/^(?!0+$)[0-9a-f]{16}$/.test(spanId)) return 'The span id is not 8 bytes.'
  return startUs > 0 ? undefined : 'The span has no start.'
}

/**
 * The span above it; empty for a root. LangSmith's processors leave out spans of others, and say
 * what is above instead.
 */
function aboveOf({ parentId, attributes }: OtlpSpan): string {
  const given = givenAbove(attributes)
  if (given !== undefined) return given
  return attributes.get(rootKey) === true ? '' : parentId
}

function givenAbove(attributes: SpanAttributes): string | undefined {
  const given = textAt(attributes, aboveKey)
  return given !== undefined && /^[0-9a-f]{16}$/.test(given) ? given : undefined
}

const [aboveKey, rootKey] = ['langsmith.traceable_parent_otel_span_id', 'langsmith.is_root']

function runOf(span: OtlpSpan, project: string | undefined): OtlpRun {
  const { attributes, startUs, endUs } = span
  const spanAbove = aboveOf(span)
  if (givenAbove(attributes) !== undefined) attributes.take(aboveKey)
  if (attributes.get(rootKey) === true) attributes.take(rootKey)
  const parent = takenText(attributes, 'langsmith.span.parent_id') ??
    (spanAbove === '' ? undefined : spanUuid(spanAbove))
  const [id, trace] = [idOf(span), traceOf(span)]
  for (const [key, said] of [['langsmith.span.id', id], ['langsmith.trace.id', trace]] as const) {
    if (textAt(attributes, key)?.toLowerCase() === said) attributes.take(key)
  }
  const order = takenText(attributes, 'langsmith.span.dotted_order')
  return {
    id,
    trace_id: trace,
    ...order !== undefined && { dotted_order: order },
    ...parent !== undefined && { parent_run_id: parent },
    start_time: `${timeTextUs(startUs)}Z`,
    ...endUs > 0 && { end_time: `${timeTextUs(endUs)}Z` },
    session_name:
      takenText(attributes, 'langsmith.trace.session_name', 'langsmith.trace.project') ?? project ??
        'default',
    ...idAt(attributes, 'langsmith.trace.session_id', 'session_id'),
    ...idAt(attributes, 'langsmith.reference_example_id', 'reference_example_id'),
    ...span.events.length > 0 && { events: eventsOf(span) },
    ...isExported(span) ? exportedMembers(span) : mappedMembers(span),
  }
}

/** Members by the conventions of libraries. Metadata are last: they keep what nothing else took. */
function mappedMembers(span: OtlpSpan): Readonly<Record<string, unknown>> {
  const { attributes } = span
  const [name, type, error] = [nameOf(span), typeOf(attributes), errorOf(span)]
  const [inputs, outputs, usage] = [inputsOf(span), outputsOf(span), usageOf(attributes)]
  const [tags, parameters] = [tagsOf(attributes), invocationOf(attributes)]
  const metadata = metadataOf(attributes)
  for (const [key, value] of [[traceIdKey, span.traceId], [spanIdKey, span.spanId],
    ...keptOf(span, { name, ...error !== undefined && { error } })] as const) {
    metadata.set(key, value)
  }
  return {
    name,
    run_type: type,
    ...inputs && { inputs },
    ...(outputs ?? usage) && { outputs: { ...outputs, ...usage && { usage_metadata: usage } } },
    ...error !== undefined && { error },
    tags,
    extra: { metadata: Object.fromEntries(metadata), invocation_params: parameters },
  }
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

function idAt(attributes: SpanAttributes, key: string,
  name: string): Readonly<Record<string, string>> {
  const id = textAt(attributes, key)
  if (id === undefined || !uuid.test(id)) return {}
  attributes.take(key)
  return { [name]: id }
}

function spanUuid(spanId: string): Uuid {
  return uuidOfBytes(Buffer.from(spanId.padStart(32, '0'), 'hex'))
}

function idOf({ spanId, attributes }: OtlpSpan): Uuid {
  const given = textAt(attributes, 'langsmith.span.id')
  return given !== undefined && uuid.test(given) ? given.toLowerCase() : spanUuid(spanId)
}

function traceOf({ traceId, attributes }: OtlpSpan): Uuid {
  const given = textAt(attributes, 'langsmith.trace.id')
  return given !== undefined && uuid.test(given)
    ? given.toLowerCase()
    : uuidOfBytes(Buffer.from(traceId, 'hex'))
}

function nameOf(span: OtlpSpan): string {
  const { name, attributes } = span
  const isTool = attributes.get('openinference.span.kind') === 'TOOL'
  // Logfire names a span by its template, and says what it reads like.
  const isTemplate = name.includes('{') && attributes.get('logfire.msg_template') === name
  return takenText(attributes, 'langsmith.trace.name', 'traceloop.entity.name',
    ...isTool ? ['tool.name'] : [], 'ai.toolCall.name',
    ...aboveOf(span) === '' ? ['langfuse.trace.name'] : [], ...isTemplate ? ['logfire.msg'] : []) ??
    (name || 'span')
}

function errorOf({ attributes, events, status }: OtlpSpan): string | undefined {
  const exception = events.find(({ name }) => name === 'exception')?.attributes
  const message = exception && textAt(exception, 'exception.message', 'exception.type')
  if (message !== undefined) {
    const stack = textAt(exception!, 'exception.stacktrace')
    return stack === undefined ? message : `${message}\n\n${stack}`
  }
  if (status.code === failedCode) return status.message || 'The span failed.'
  if (attributes.get('langfuse.observation.level') !== 'ERROR') return undefined
  return takenText(attributes, 'langfuse.observation.status_message') ?? 'The span failed.'
}

function eventsOf({ events }: OtlpSpan): unknown[] {
  return events.map(({ name, timeUs, attributes, dropped }) => {
    const kwargs = Object.fromEntries(attributes)
    return { name, time: `${timeTextUs(timeUs)}Z`, ...Object.keys(kwargs).length > 0 && { kwargs },
      ...dropped > 0 && { dropped_attributes_count: dropped } }
  })
}

const tagWords = ['langsmith.span.tags', 'tag.tags', 'langfuse.trace.tags', 'logfire.tags']

function tagsOf(attributes: SpanAttributes): string[] {
  const key = tagWords.find((word) => attributes.has(word))
  const tags = key === undefined ? undefined : attributes.get(key)
  if (key === undefined || (!Array.isArray(tags) && typeof tags !== 'string')) return []
  attributes.take(key)
  const list = typeof tags === 'string' ? tags.split(',') : tags.map(String)
  return list.map((tag) => tag.trim()).filter((tag) => tag !== '')
}

const metadataPrefixes = ['langsmith.metadata.', 'traceloop.association.properties.',
  'langfuse.observation.metadata.', 'langfuse.trace.metadata.', 'ai.telemetry.metadata.']
const userWords = ['user.id', 'langfuse.user.id', 'enduser.id']
const threadWords = ['gen_ai.conversation.id', 'session.id', 'langfuse.session.id']
const providerWords = ['gen_ai.provider.name', 'gen_ai.system', 'llm.system', 'llm.provider',
  'ai.model.provider']
const modelWords = ['gen_ai.request.model', 'gen_ai.response.model', 'model', 'llm.model_name',
  'embedding.model_name', 'langfuse.observation.model.name', 'ai.model.id']

/** The client's own come first, for filters find the first keys only. */
function metadataOf(attributes: SpanAttributes): Map<string, AttributeValue> {
  const said = new Map<string, AttributeValue>()
  for (const [key, value] of attributes) {
    const prefix = metadataPrefixes.find((each) => key.startsWith(each))
    if (prefix === undefined || said.has(key.slice(prefix.length))) continue
    said.set(key.slice(prefix.length), value)
    attributes.take(key)
  }
  const given = Object.entries(objectIn(attributes.get('metadata')))
  if (given.length > 0 && !given.some(([key]) => said.has(key))) attributes.take('metadata')
  const words = [['thread_id', threadWords], ['ls_provider', providerWords], ['ls_model_name',
    modelWords], ['user_id', userWords]] as const
  const all = new Map([...given, ...said])
  const read = words.flatMap(([key, from]): [string, AttributeValue][] => {
    const text = all.has(key) ? undefined : takenText(attributes, ...from)
    return text === undefined ? [] : [[key, text]]
  })
  return new Map([...read, ...all])
}

function objectIn(value: AttributeValue | undefined): JsonObject {
  const parsed = parsedText(value)
  return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
    ? parsed as JsonObject
    : {}
}

const requestPrefix = 'gen_ai.request.'

/** The parameters of a call; those with a word of their own win over those in JSON. */
function invocationOf(attributes: SpanAttributes): JsonObject {
  const params = new Map<string, AttributeValue>()
  for (const [key, value] of attributes) {
    if (!key.startsWith(requestPrefix)) continue
    const name = key.slice(requestPrefix.length)
    if (splitNumbered(name) !== undefined) continue
    params.set(name === 'stop_sequences' ? 'stop' : name, value)
    attributes.take(key)
  }
  for (const prefix of attributes.prefixes) {
    const name = prefix.slice(requestPrefix.length)
    if (!prefix.startsWith(requestPrefix) || params.has(name)) continue
    params.set(name === 'stop_sequences' ? 'stop' : name, attributes.takeList(prefix)!)
  }
  const temperature = takenNumber(attributes, 'gen_ai.request.temperature')
  if (temperature !== undefined) params.set('temperature', temperature)
  const model = takenText(attributes, 'gen_ai.request.model', 'gen_ai.response.model')
  if (model !== undefined) params.set('model', model)
  const tool = takenText(attributes, 'gen_ai.tool.name')
  if (tool !== undefined) params.set('tool_name', tool)
  const tools = toolsOf(attributes)
  if (tools !== undefined) params.set('tools', tools)
  const word = parameterWords.find((each) => attributes.has(each)) ?? parameterWords[0]
  const given = Object.entries(objectIn(attributes.get(word)))
  if (given.every(([key, value]) => !params.has(key) || params.get(key) === value)) {
    takenObject(attributes, word)
  }
  return Object.fromEntries([...given, ...params])
}

/** The tools of a call: in one attribute, or each below an index. */
function toolsOf(attributes: SpanAttributes): AttributeValue | undefined {
  const key = attributes.has('tools') ? 'tools' : 'gen_ai.tool.definitions'
  const tools = parsedText(attributes.get(key))
  attributes.take(key)
  if (tools !== undefined) return tools
  const prefix = [...attributes.prefixes].find((each) => toolPrefixes.includes(each))
  return prefix === undefined
    ? undefined
    : attributes.takeList(prefix)!.map((tool) => schemaOfTool(tool) ?? tool)
}

const toolPrefixes = ['gen_ai.tool.definitions', 'llm.tools', 'llm.request.functions', 'tools']

/** OpenInference gives a tool as its JSON schema. */
function schemaOfTool(tool: AttributeValue): AttributeValue | undefined {
  return isObject(tool) ? (tool as JsonObject)['json_schema'] : undefined
}

/** All parameters of a call, as JSON. */
const parameterWords = ['llm.invocation_parameters',
  'langfuse.observation.model.parameters'] as const

/** Spans of OpenTelemetry as operations: the same members that LangSmith's clients send. */

import { isObject } from '../../../json/index.ts'
import type { Uuid } from '../../spans/span.ts'
import { timeTextUs } from '../../spans/time.ts'
import { uuidOfBytes } from '../../spans/uuid-bytes.ts'
import { inputsOf, numberAt, outputsOf, parsedText, textAt } from './otlp-payload.ts'
import { usageOf } from './otlp-usage.ts'
import type { Attributes, AttributeValue, OtlpSpan } from './otlp.ts'

/** The members of a span as an operation has them. */
export type OtlpRun = Readonly<Record<string, unknown>> & { readonly id: Uuid;
  readonly trace_id: Uuid }

/** What became of a span: an operation, or why there is none. */
export type MappedSpan =
  | { readonly run: OtlpRun }
  | { readonly rejected: { readonly id: string; readonly reason: string } }

/**
 * The operations of the spans of one request. Spans that name no project are in `project`.
 * Ancestors in the same request are in the dotted order of a span; others are not known. Each is
 * made when it is asked for: all together may take more memory than the request.
 */
export function* mapSpans(spans: readonly OtlpSpan[],
  project: string | undefined): Generator<MappedSpan, void, void> {
  const paths = new SpanPaths(spans)
  for (const span of spans) {
    const fault = faultIn(span)
    yield fault !== undefined
      ? { rejected: { id: span.spanId, reason: fault } }
      : { run: runOf(span, paths.of(span), project) }
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
  const given = textAt(attributes, 'langsmith.traceable_parent_otel_span_id')
  if (given !== undefined && /^[0-9a-f]{16}$/.test(given)) return given
  return attributes.get('langsmith.is_root') === true ? '' : parentId
}

/** Spans on a path. One below that begins a new path with its parent. */
const depthMax = 60

/** A dotted order, and how many spans are on it. */
interface SpanPath {
  readonly text: string
  readonly depth: number
}

/** The dotted orders of the spans of a request. Each span is looked at once, also in a circle. */
class SpanPaths {
  readonly #byId: ReadonlyMap<string, OtlpSpan>
  readonly #known = new Map<OtlpSpan, SpanPath>()

  constructor(spans: readonly OtlpSpan[]) {
    this.#byId = new Map(spans.map((span) => [`${span.traceId}/${span.spanId}`, span]))
  }

  /** Ancestors in the same request are in it, the outermost first. */
  of(span: OtlpSpan): string {
    // From the span up to one that is known, has no parent here, or closes a circle.
    const open = new Set<OtlpSpan>()
    let above: OtlpSpan | undefined = span
    while (above !== undefined && !this.#known.has(above) && !open.has(above)) {
      open.add(above)
      above = this.#byId.get(`${above.traceId}/${aboveOf(above)}`)
    }
    for (const one of [...open].reverse()) {
      const parent = above && this.#known.get(above)
      this.#known.set(one, below(parent, one, above))
      above = one
    }
    return this.#known.get(span)!.text
  }
}

function below(path: SpanPath | undefined, span: OtlpSpan, parent: OtlpSpan | undefined): SpanPath {
  const own = segmentOf(span)
  if (path === undefined || parent === undefined) return { text: own, depth: 1 }
  if (path.depth < depthMax) return { text: `${path.text}.${own}`, depth: path.depth + 1 }
  return { text: `${segmentOf(parent)}.${own}`, depth: 2 }
}

function runOf(span: OtlpSpan, path: string, project: string | undefined): OtlpRun {
  const { attributes, startUs, endUs } = span
  const outputs = outputsOf(span)
  const usage = usageOf(attributes)
  const inputs = inputsOf(span)
  const error = errorOf(span)
  const spanAbove = aboveOf(span)
  const parent = textAt(attributes, 'langsmith.span.parent_id') ??
    (spanAbove === '' ? undefined : spanUuid(spanAbove))
  return {
    id: idOf(span),
    trace_id: traceOf(span),
    dotted_order: textAt(attributes, 'langsmith.span.dotted_order') ?? path,
    ...parent !== undefined && { parent_run_id: parent },
    name: nameOf(span),
    run_type: typeOf(attributes),
    start_time: `${timeTextUs(startUs)}Z`,
    ...endUs > 0 && { end_time: `${timeTextUs(endUs)}Z` },
    session_name: textAt(attributes, 'langsmith.trace.session_name', 'langsmith.trace.project') ??
      project ?? 'default',
    ...idAt(attributes, 'langsmith.trace.session_id', 'session_id'),
    ...idAt(attributes, 'langsmith.reference_example_id', 'reference_example_id'),
    ...inputs && { inputs },
    ...(outputs ?? usage) && { outputs: { ...outputs, ...usage && { usage_metadata: usage } } },
    ...error !== undefined && { error },
    ...span.events.length > 0 && { events: eventsOf(span) },
    tags: tagsOf(attributes),
    extra: { metadata: metadataOf(span), invocation_params: invocationOf(attributes) },
  }
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

function idAt(attributes: Attributes, key: string, name: string): Readonly<Record<string, string>> {
  const id = textAt(attributes, key)
  return id === undefined || !uuid.test(id) ? {} : { [name]: id }
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

function segmentOf(span: OtlpSpan): string {
  return `${timeTextUs(span.startUs).replaceAll(/[-:.]/g, '')}Z${idOf(span)}`
}

function nameOf({ name, attributes }: OtlpSpan): string {
  const isTool = attributes.get('openinference.span.kind') === 'TOOL'
  return textAt(attributes, 'langsmith.trace.name', 'traceloop.entity.name',
    ...isTool ? ['tool.name'] : []) ?? (name || 'span')
}

/** What an operation of a generative model is here. */
const operations: Readonly<Record<string, string>> = { chat: 'llm', completion: 'llm',
  text_completion: 'llm', generate_content: 'llm', embedding: 'embedding', embeddings: 'embedding',
  execute_tool: 'tool', invoke_agent: 'chain', create_agent: 'chain' }
const kinds: Readonly<Record<string, string>> = { tool: 'tool', llm: 'llm', retriever: 'retriever',
  generation: 'llm', embedding: 'embedding', workflow: 'chain', task: 'chain', agent: 'chain',
  chain: 'chain' }

/** A span with one of them that says no operation and no kind is a call of a model. */
const modelWords = ['gen_ai.request.model', 'gen_ai.response.model', 'llm.model_name',
  'gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens', 'llm.token_count.prompt']

function typeOf(attributes: Attributes): string {
  const own = textAt(attributes, 'langsmith.span.kind')
  if (own !== undefined) return own.toLowerCase()
  const operation = textAt(attributes, 'gen_ai.operation.name')
  if (operation !== undefined) return operations[operation] ?? 'chain'
  const request = textAt(attributes, 'llm.request.type')
  if (request !== undefined) return operations[request] ?? 'chain'
  const kind = textAt(attributes, 'openinference.span.kind', 'traceloop.span.kind',
    'langfuse.observation.type')
  if (kind !== undefined) return kinds[kind.toLowerCase()] ?? 'chain'
  const step = textAt(attributes, 'ai.operationId')
  if (step !== undefined) return typeOfStep(step)
  if (attributes.has('gen_ai.tool.name')) return 'tool'
  if (attributes.has('llm.prompt_template.variables')) return 'prompt'
  return isModelCall(attributes) ? 'llm' : 'chain'
}

/** A step of the AI SDK: only `ai.….doGenerate` and its like call a model, others are around it. */
function typeOfStep(step: string): string {
  if (/\.do(?:Generate|Stream)$/.test(step)) return 'llm'
  if (step.endsWith('.doEmbed')) return 'embedding'
  return step === 'ai.toolCall' ? 'tool' : 'chain'
}

/** Agents sum up the tokens of their calls: theirs would count twice. */
function isModelCall(attributes: Attributes): boolean {
  return modelWords.some((word) => attributes.has(word)) &&
    !attributes.has('gen_ai.agent.name') && !attributes.has('agent_name')
}

function errorOf({ events, status }: OtlpSpan): string | undefined {
  const exception = events.find(({ name }) => name === 'exception')?.attributes
  const message = exception && textAt(exception, 'exception.message', 'exception.type')
  if (message !== undefined) {
    const stack = textAt(exception!, 'exception.stacktrace')
    return stack === undefined ? message : `${message}\n\n${stack}`
  }
  return status.failed ? status.message || 'The span failed.' : undefined
}

function eventsOf({ events }: OtlpSpan): unknown[] {
  return events.map(({ name, timeUs, attributes }) => ({ name, time: `${timeTextUs(timeUs)}Z`,
    ...attributes.size > 0 && { kwargs: Object.fromEntries(attributes) } })
  )
}

function tagsOf(attributes: Attributes): string[] {
  const tags = attributes.get('langsmith.span.tags') ?? attributes.get('tag.tags')
  const list = Array.isArray(tags) ? tags.map(String) : typeof tags === 'string'
    ? tags.split(',')
    : []
  return list.map((tag) => tag.trim()).filter((tag) => tag !== '')
}

const metadataPrefixes = ['langsmith.metadata.', 'traceloop.association.properties.']

function metadataOf({ attributes, traceId, spanId }: OtlpSpan): Record<string, AttributeValue> {
  const given = parsedText(attributes.get('metadata'))
  const metadata: Record<string, AttributeValue> = isObject(given) ? { ...given as object } : {}
  for (const [key, value] of attributes) {
    const prefix = metadataPrefixes.find((each) => key.startsWith(each))
    if (prefix !== undefined) metadata[key.slice(prefix.length)] = value
  }
  const thread = textAt(attributes, 'gen_ai.conversation.id', 'session.id', 'langfuse.session.id')
  const provider = textAt(attributes, 'gen_ai.provider.name', 'gen_ai.system', 'llm.system',
    'llm.provider', 'ai.model.provider')
  const model = textAt(attributes, 'gen_ai.request.model', 'gen_ai.response.model', 'model',
    'llm.model_name', 'embedding.model_name', 'langfuse.observation.model.name', 'ai.model.id')
  return { ...thread !== undefined && { thread_id: thread },
    ...provider !== undefined && { ls_provider: provider },
    ...model !== undefined && { ls_model_name: model }, ...metadata, OTEL_TRACE_ID: traceId,
    OTEL_SPAN_ID: spanId }
}

const requestPrefix = 'gen_ai.request.'

function invocationOf(attributes: Attributes): Record<string, AttributeValue> {
  const given = parsedText(attributes.get('llm.invocation_parameters'))
  const params: Record<string, AttributeValue> = isObject(given) ? { ...given as object } : {}
  for (const [key, value] of attributes) {
    if (!key.startsWith(requestPrefix)) continue
    const name = key.slice(requestPrefix.length)
    params[name === 'stop_sequences' ? 'stop' : name] = value
  }
  const temperature = numberAt(attributes, 'gen_ai.request.temperature')
  const model = textAt(attributes, 'gen_ai.request.model', 'gen_ai.response.model')
  const tool = textAt(attributes, 'gen_ai.tool.name')
  const tools = parsedText(attributes.get('tools') ?? attributes.get('gen_ai.tool.definitions'))
  return { ...params, ...temperature !== undefined && { temperature },
    ...model !== undefined && { model }, ...tool !== undefined && { tool_name: tool },
    ...tools !== undefined && { tools } }
}

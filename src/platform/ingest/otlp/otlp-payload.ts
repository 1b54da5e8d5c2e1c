/**
 * Inputs and outputs of a span of OpenTelemetry: by the conventions of LangSmith, of OpenTelemetry
 * for generative models, of OpenInference, OpenLLMetry, the AI SDK, Pydantic AI and Langfuse. The
 * first that is there counts.
 */

import { isObject } from '../../../json/index.ts'
import { parsedText } from './otlp-attributes.ts'
import type { Attributes, AttributeValue, JsonObject, SpanAttributes } from './otlp-attributes.ts'
import type { OtlpEvent, OtlpSpan } from './otlp-span.ts'

/** The inputs of a span; undefined if it says none. */
export function inputsOf({ attributes, events }: OtlpSpan): JsonObject | undefined {
  const prompt = eventNamed(events, 'gen_ai.content.prompt')
  const messages = events.filter(({ name }) => /^gen_ai\.(system|user)\.message$/.test(name))
    .map((event) => fromAttributes(event.attributes))
  return objectAt(prompt, 'gen_ai.prompt', 'input') ??
    (messages.length > 0 ? { messages } : undefined) ??
    messagesAt(attributes, 'gen_ai.input.messages') ??
    indexedMessages(attributes, 'gen_ai.prompt') ??
    indexedMessages(attributes, 'llm.input_messages') ??
    firstObject(attributes, ['input.value', 'traceloop.entity.input', 'gen_ai.prompt', 'prompt',
      'gen_ai.tool.call.arguments', 'tool_arguments', 'langfuse.observation.input',
      'langfuse.trace.input', 'request_data', 'ai.prompt.messages', 'ai.prompt', 'ai.toolCall.args',
      'ai.value', 'ai.values'], 'input')
}

/** The outputs of a span, without its usage; undefined if it says none. */
export function outputsOf({ attributes, events }: OtlpSpan): JsonObject | undefined {
  const completion = eventNamed(events, 'gen_ai.content.completion')
  const messages = events.filter(({ name }) => /^gen_ai\.(assistant|tool)\.message$/.test(name))
    .map((event) => fromAttributes(event.attributes))
  const choices = events.filter(({ name }) => name === 'gen_ai.choice')
    .map((event) => fromAttributes(event.attributes))
  const said = { ...messages.length > 0 && { messages }, ...choices.length > 0 && { choices } }
  return objectAt(completion, 'gen_ai.completion', 'text') ??
    (Object.keys(said).length > 0 ? said : undefined) ??
    messagesAt(attributes, 'gen_ai.output.messages') ??
    indexedMessages(attributes, 'gen_ai.completion') ??
    indexedMessages(attributes, 'llm.output_messages') ??
    firstObject(attributes, ['output.value', 'traceloop.entity.output', 'gen_ai.completion',
      'all_messages_events', 'gen_ai.tool.call.result', 'tool_response', 'final_result',
      'langfuse.observation.output', 'langfuse.trace.output', 'response_data', 'ai.response.object',
      'ai.toolCall.result'], 'text') ??
    messagesAt(attributes, 'pydantic_ai.all_messages') ??
    firstObject(attributes, ['ai.embedding'], 'embedding') ??
    firstObject(attributes, ['ai.embeddings'], 'embeddings') ??
    answerOfAiSdk(attributes) ??
    documentsIn(attributes)
}

function eventNamed(events: readonly OtlpEvent[], name: string): Attributes {
  return events.find((event) => event.name === name)?.attributes ?? new Map()
}

function fromAttributes(attributes: Attributes): JsonObject {
  return Object.fromEntries([...attributes].map(([key, value]) => [key, parsedText(value)!]))
}

/** The value at a key: an object as it is, all others below `name`. */
function objectAt(attributes: Attributes, key: string, name: string): JsonObject | undefined {
  const value = parsedText(attributes.get(key))
  if (value === undefined || value === null) return undefined
  return isObject(value) ? value as JsonObject : { [name]: value }
}

/** The value at the first key that there is. Nothing else says it, so it is taken. */
function firstObject(attributes: SpanAttributes, keys: readonly string[], name: string):
  | JsonObject
  | undefined {
  const key = keys.find((each) => attributes.has(each))
  const found = key === undefined ? undefined : objectAt(attributes, key, name)
  if (found !== undefined) attributes.take(key!)
  return found
}

/** Messages in one attribute, as the newer conventions have them. */
function messagesAt(attributes: SpanAttributes, key: string): JsonObject | undefined {
  const messages = parsedText(attributes.get(key))
  if (messages === undefined || messages === null) return undefined
  attributes.take(key)
  return { messages }
}

/** Messages in attributes with numbers: `gen_ai.prompt.0.role`, `….0.message.content`. */
function indexedMessages(attributes: SpanAttributes, prefix: string): JsonObject | undefined {
  const messages = indexed(attributes, prefix, (name) => name.replace(/^message\./, ''))
  return messages.length > 0 ? { messages } : undefined
}

/** The text and the calls of tools of the AI SDK. */
function answerOfAiSdk(attributes: SpanAttributes): JsonObject | undefined {
  const [textKey, callsKey] = ['ai.response.text', 'ai.response.toolCalls']
  const [text, calls] = [attributes.get(textKey), parsedText(attributes.get(callsKey))]
  if (text === undefined && calls === undefined) return undefined
  for (const key of [textKey, callsKey]) attributes.take(key)
  return { ...text !== undefined && { text }, ...calls !== undefined && { tool_calls: calls } }
}

function documentsIn(attributes: SpanAttributes): JsonObject | undefined {
  const documents = indexed(attributes, 'retrieval.documents', nameInDocument).map((found) => ({
    page_content: found['page_content'] ?? '',
    metadata: found['metadata'] ?? {},
    type: 'Document',
  }))
  return documents.length > 0 ? { documents } : undefined
}

function nameInDocument(name: string): string | undefined {
  if (name === 'document.content') return 'page_content'
  return name === 'document.metadata' ? 'metadata' : undefined
}

/** Attributes below `prefix.<n>.`, by n, under the names that `nameOf` knows: those are taken. */
function indexed(attributes: SpanAttributes, prefix: string,
  nameOf: (name: string) => string | undefined
): readonly Readonly<
  Record<string, AttributeValue>
>[] {
  const found = new Map<number, Map<string, AttributeValue>>()
  const begin = `${prefix}.`
  for (const [key, value] of attributes.numbered) {
    if (!key.startsWith(begin)) continue
    const [, number, said] = /^(\d{1,6})\.(.+)$/s.exec(key.slice(begin.length)) ?? []
    const name = said === undefined ? undefined : nameOf(said)
    if (name === undefined) continue
    const one = found.get(Number(number)) ?? new Map<string, AttributeValue>()
    found.set(Number(number), one)
    // Of two with one name, the second stays where it is.
    if (one.has(name)) continue
    one.set(name, parsedText(value)!)
    attributes.take(key)
  }
  return [...found].sort(([a], [b]) => a - b).map(([, one]) => Object.fromEntries(one))
}

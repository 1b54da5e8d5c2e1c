/**
 * What a span of OpenTelemetry took in and gave: by the conventions of LangSmith, of OpenTelemetry
 * for generative models, of OpenInference, OpenLLMetry, the AI SDK, Pydantic AI and Langfuse. The
 * first that is there counts.
 */

import { isObject } from '../../../json/index.ts'
import type { Attributes, AttributeValue, OtlpSpan } from './otlp.ts'

/** A JSON object. */
export type JsonObject = Readonly<Record<string, AttributeValue>>

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
      'ai.prompt.messages', 'ai.prompt', 'ai.toolCall.args', 'ai.value', 'ai.values'], 'input')
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
      'langfuse.observation.output', 'ai.response.object', 'ai.toolCall.result'], 'text') ??
    answerOfAiSdk(attributes) ??
    documentsIn(attributes)
}

/** A number among attributes, which some libraries write as a text. */
export function numberAt(attributes: Attributes, ...keys: readonly string[]): number | undefined {
  for (const key of keys) {
    const value = attributes.get(key)
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
    if (typeof number === 'number' && Number.isFinite(number)) return number
  }
  return undefined
}

/** A text among attributes that is not empty. */
export function textAt(attributes: Attributes, ...keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = attributes.get(key)
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}

/** The value of JSON in a text; other values, and texts that are no JSON, as they are. */
export function parsedText(value: AttributeValue | undefined): AttributeValue | undefined {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value) as AttributeValue
  } catch {
    return value
  }
}

function eventNamed(events: OtlpSpan['events'], name: string): Attributes {
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

function firstObject(attributes: Attributes, keys: readonly string[], name: string):
  | JsonObject
  | undefined {
  const key = keys.find((each) => attributes.has(each))
  return key === undefined ? undefined : objectAt(attributes, key, name)
}

/** Messages in one attribute, as the newer conventions have them. */
function messagesAt(attributes: Attributes, key: string): JsonObject | undefined {
  const messages = parsedText(attributes.get(key))
  return messages === undefined || messages === null ? undefined : { messages }
}

/** Messages in attributes with numbers: `gen_ai.prompt.0.role`, `….0.message.content`. */
function indexedMessages(attributes: Attributes, prefix: string): JsonObject | undefined {
  const messages = indexed(attributes, prefix)
  return messages.length > 0 ? { messages } : undefined
}

/** The text and the calls of tools of the AI SDK. */
function answerOfAiSdk(attributes: Attributes): JsonObject | undefined {
  const [text, calls] = [attributes.get('ai.response.text'),
    parsedText(attributes.get('ai.response.toolCalls'))]
  if (text === undefined && calls === undefined) return undefined
  return { ...text !== undefined && { text }, ...calls !== undefined && { tool_calls: calls } }
}

function documentsIn(attributes: Attributes): JsonObject | undefined {
  const documents = indexed(attributes, 'retrieval.documents').map((found) => ({
    page_content: found['document.content'] ?? '',
    metadata: parsedText(found['document.metadata']) ?? {},
    type: 'Document',
  }))
  return documents.length > 0 ? { documents } : undefined
}

/** Attributes below `prefix.<n>.`, by n; those below `message` count as the message's own. */
function indexed(attributes: Attributes,
  prefix: string): Readonly<Record<string, AttributeValue>>[] {
  const found = new Map<number, Record<string, AttributeValue>>()
  for (const [key, value] of attributes) {
    if (!key.startsWith(`${prefix}.`)) continue
    const [, number, name] = /^(\d{1,6})\.(.+)$/s.exec(key.slice(prefix.length + 1)) ?? []
    if (number === undefined || name === undefined) continue
    const one = found.get(Number(number)) ?? {}
    one[name.replace(/^message\./, '')] = parsedText(value)!
    found.set(Number(number), one)
  }
  return [...found].sort(([a], [b]) => a - b).map(([, one]) => one)
}

/**
 * Inputs and outputs of a span of OpenTelemetry: by the conventions of LangSmith, of OpenTelemetry
 * for generative models, of OpenInference, OpenLLMetry, the AI SDK, Pydantic AI and Langfuse. The
 * first that is there counts.
 */

import { isObject } from '../../../json/index.ts'
import { parsedText, SpanAttributes, takenText } from './otlp-attributes.ts'
import type { Attributes, AttributeValue, JsonObject } from './otlp-attributes.ts'
import type { OtlpEvent, OtlpSpan } from './otlp-span.ts'

/** The inputs of a span; undefined if it says none. */
export function inputsOf({ attributes, events }: OtlpSpan): JsonObject | undefined {
  const prompt = eventNamed(events, 'gen_ai.content.prompt')
  const messages = events.filter(({ name }) => /^gen_ai\.(system|user)\.message$/.test(name))
    .map((event) => fromAttributes(event.attributes))
  return objectAt(prompt, 'gen_ai.prompt', 'input') ??
    (messages.length > 0 ? { messages } : undefined) ??
    messagesAt(attributes, 'gen_ai.input.messages') ??
    indexedMessages(attributes, 'gen_ai.input.messages') ??
    indexedMessages(attributes, 'gen_ai.prompt') ??
    indexedMessages(attributes, 'llm.input_messages') ??
    firstObject(attributes, ['input.value', 'traceloop.entity.input', 'gen_ai.prompt', 'prompt',
      'gen_ai.tool.call.arguments', 'tool_arguments', 'langfuse.observation.input',
      'langfuse.trace.input', 'request_data', 'ai.prompt.messages', 'ai.prompt', 'ai.toolCall.args',
      'ai.value', 'ai.values'], 'input') ??
    promptOfAgent(attributes) ??
    listAt(attributes, 'llm.prompts', 'prompts') ??
    rerankerInputs(attributes)
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
    indexedMessages(attributes, 'gen_ai.output.messages') ??
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
    documentsAt(attributes, 'retrieval.documents') ??
    documentsAt(attributes, 'reranker.output_documents') ??
    listAt(attributes, 'llm.choices', 'choices') ??
    listAt(attributes, 'embedding.embeddings', 'embeddings')
}

function eventNamed(events: readonly OtlpEvent[], name: string): Attributes {
  return events.find((event) => event.name === name)?.attributes ?? new Map()
}

/** The attributes of an event; those below a prefix with indices are one list. */
function fromAttributes(attributes: Attributes): JsonObject {
  const own = new SpanAttributes(new Map(attributes))
  const lists = [...own.prefixes].filter((prefix) => !own.has(prefix))
    .flatMap((prefix) => {
      const list = own.takeList(prefix)
      return list === undefined ? [] : [[prefix, list] as const]
    })
  const others = own.left().map(([key, value]) => [key, parsedText(value)!] as const)
  return Object.fromEntries([...others, ...lists])
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

/** Messages below a prefix: `gen_ai.prompt.0.role`, `….0.tool_calls.0.function.name`. */
function indexedMessages(attributes: SpanAttributes, prefix: string): JsonObject | undefined {
  const messages = attributes.takeList(prefix)?.map(withContent)
  return messages && { messages }
}

/** OpenInference calls a content of several parts `contents`. */
function withContent(message: AttributeValue): AttributeValue {
  if (!isObject(message) || !Array.isArray(message['contents']) || 'content' in message) {
    return message
  }
  const { contents, ...others } = message as JsonObject
  return { ...others, content: contents! }
}

/**
 * The messages that an agent of Pydantic AI got: all before its first response. Its span has only
 * the whole conversation, which may start with the messages of earlier runs.
 */
function promptOfAgent(attributes: SpanAttributes): JsonObject | undefined {
  const said = ['pydantic_ai.all_messages', 'all_messages_events']
    .map((key) => parsedText(attributes.get(key))).find((value) => Array.isArray(value))
  const first = attributes.get('pydantic_ai.new_message_index')
  const from = typeof first === 'number' ? first : 0
  const messages = said as readonly AttributeValue[] | undefined ?? []
  const end = messages.findIndex((message, at) => at >= from && isResponse(message))
  const prompt = messages.slice(0, end === -1 ? undefined : end)
  return prompt.length > 0 ? { messages: prompt } : undefined
}

function isResponse(message: AttributeValue): boolean {
  return isObject(message) && message['role'] === 'assistant'
}

/** The text and the calls of tools of the AI SDK. */
function answerOfAiSdk(attributes: SpanAttributes): JsonObject | undefined {
  const [textKey, callsKey] = ['ai.response.text', 'ai.response.toolCalls']
  const [text, calls] = [attributes.get(textKey), parsedText(attributes.get(callsKey))]
  if (text === undefined && calls === undefined) return undefined
  for (const key of [textKey, callsKey]) attributes.take(key)
  return { ...text !== undefined && { text }, ...calls !== undefined && { tool_calls: calls } }
}

function documentsAt(attributes: SpanAttributes, prefix: string): JsonObject | undefined {
  const documents = attributes.takeList(prefix)?.map((found) => {
    const { content = '', metadata = {}, ...others } = isObject(found)
      ? found as JsonObject
      : { content: found }
    return { ...others, page_content: content, metadata, type: 'Document' }
  })
  return documents && { documents }
}

/** The list below a prefix, as a member of this name. */
function listAt(attributes: SpanAttributes, prefix: string, name: string): JsonObject | undefined {
  const list = attributes.takeList(prefix)
  return list && { [name]: list }
}

/** The question and the documents of a reranker of OpenInference. */
function rerankerInputs(attributes: SpanAttributes): JsonObject | undefined {
  const documents = documentsAt(attributes, 'reranker.input_documents')
  const query = takenText(attributes, 'reranker.query')
  return documents ?? query !== undefined
    ? { ...query !== undefined && { query }, ...documents }
    : undefined
}

/**
 * Tokens of a span of OpenTelemetry, by the words of each convention: those of OpenTelemetry,
 * OpenInference, OpenLLMetry, the AI SDK, Pydantic AI and Langfuse. Pure.
 */

import { isObject } from '../../../json/index.ts'
import { parsedText, takenNumber, takenObject } from './otlp-attributes.ts'
import type { AttributeValue, JsonObject, SpanAttributes } from './otlp-attributes.ts'

const inputWords = ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens',
  'llm.token_count.prompt', 'ai.usage.inputTokens', 'ai.usage.promptTokens', 'ai.usage.tokens']
const outputWords = ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens',
  'llm.token_count.completion', 'ai.usage.outputTokens', 'ai.usage.completionTokens']
const totalWords = ['gen_ai.usage.total_tokens', 'llm.token_count.total', 'llm.usage.total_tokens',
  'ai.usage.totalTokens']

/** Kinds of tokens as prices name them, and the words for each. */
type Kinds = readonly (readonly [kind: string, words: readonly string[]])[]

const inputKinds: Kinds = Object.entries({
  cache_read: ['gen_ai.usage.cache_read.input_tokens', 'gen_ai.usage.cache_read_input_tokens',
    'llm.token_count.prompt_details.cache_read', 'ai.usage.inputTokenDetails.cacheReadTokens',
    'ai.usage.cachedInputTokens', 'gen_ai.usage.details.cache_read_tokens',
    'gen_ai.usage.details.cache_read_input_tokens'],
  cache_creation: ['gen_ai.usage.cache_creation.input_tokens',
    'gen_ai.usage.cache_creation_input_tokens', 'llm.token_count.prompt_details.cache_write',
    'ai.usage.inputTokenDetails.cacheWriteTokens', 'gen_ai.usage.details.cache_write_tokens',
    'gen_ai.usage.details.cache_creation_input_tokens'],
  audio: ['llm.token_count.prompt_details.audio', 'gen_ai.usage.details.input_audio_tokens'],
})
const outputKinds: Kinds = Object.entries({
  reasoning: ['gen_ai.usage.reasoning.output_tokens', 'gen_ai.usage.reasoning_tokens',
    'llm.token_count.completion_details.reasoning', 'ai.usage.reasoningTokens',
    'ai.usage.outputTokenDetails.reasoningTokens', 'gen_ai.usage.details.reasoning_tokens'],
  audio: ['llm.token_count.completion_details.audio', 'gen_ai.usage.details.output_audio_tokens'],
})

/** Tokens and costs, as LangSmith's clients name them; undefined if there are none. */
export function usageOf(attributes: SpanAttributes): JsonObject | undefined {
  const given = takenObject(attributes, 'langsmith.usage_metadata')
  if (given !== undefined) return given
  const input = takenNumber(attributes, ...inputWords)
  const output = takenNumber(attributes, ...outputWords)
  const total = takenNumber(attributes, ...totalWords)
  if (input === undefined && output === undefined && total === undefined) {
    return usageOfLangfuse(attributes)
  }
  const costs = costsOf(attributes)
  const inputs = kindsOf(attributes, inputKinds, 'gen_ai.usage.input_token_details')
  const outputs = kindsOf(attributes, outputKinds, 'gen_ai.usage.output_token_details')
  return { ...input !== undefined && { input_tokens: input },
    ...output !== undefined && { output_tokens: output },
    total_tokens: total ?? (input ?? 0) + (output ?? 0), ...costs,
    ...inputs && { input_token_details: inputs }, ...outputs && { output_token_details: outputs } }
}

/** US dollars that a library has worked out, which win over prices. */
function costsOf(attributes: SpanAttributes): JsonObject {
  const key = 'langfuse.observation.cost_details'
  const parsed = parsedText(attributes.get(key))
  const given = isObject(parsed) ? parsed as JsonObject : {}
  const read = costWords.filter(([, side]) => typeof given[side] === 'number')
  // Costs of other kinds are only kept.
  if (read.length > 0 && read.length === Object.keys(given).length) attributes.take(key)
  const costs: Record<string, number> = {}
  for (const [name, side, words] of costWords) {
    const cost = typeof given[side] === 'number'
      ? given[side]
      : takenNumber(attributes, ...words)
    if (cost !== undefined) costs[name] = cost
  }
  return costs
}

const costWords = [['input_cost', 'input', ['llm.cost.prompt']], ['output_cost', 'output', [
  'llm.cost.completion',
]], ['total_cost', 'total', ['llm.cost.total', 'gen_ai.usage.cost', 'operation.cost']]] as const

/** Details as JSON win: they are the kinds themselves. */
function kindsOf(attributes: SpanAttributes, kinds: Kinds, whole: string): JsonObject | undefined {
  let said: Record<string, number> | undefined
  for (const [kind, words] of kinds) {
    for (const word of words) {
      const tokens = takenNumber(attributes, word)
      if (tokens === undefined) continue
      said ??= {}
      said[kind] = tokens
      break
    }
  }
  const given = detailsOf(attributes.get(whole))
  if (!isObject(given)) return said
  attributes.take(whole)
  return { ...said, ...given as JsonObject }
}

/** LangSmith's client for Python writes them as Python does: with single quotes. */
function detailsOf(value: AttributeValue | undefined): unknown {
  const isPython = typeof value === 'string' && value.startsWith("{'")
  return parsedText(isPython ? value.replaceAll("'", '"') : value)
}

/** Names whose numbers follow from their sums. */
const knownToLangfuse = /^(?:input|output|total|cache_(?:read|creation)_input_tokens)$/

/** Its kinds leave each other out, and a name says to which side a kind belongs. */
function usageOfLangfuse(attributes: SpanAttributes): JsonObject | undefined {
  const key = 'langfuse.observation.usage_details'
  const given = parsedText(attributes.get(key))
  if (!isObject(given)) return undefined
  const numbers = Object.entries(given).filter((entry): entry is [string, number] =>
    typeof entry[1] === 'number'
  )
  const names = numbers.filter(([name]) => knownToLangfuse.test(name))
  if (names.length === Object.keys(given).length) attributes.take(key)
  const sum = (pattern: RegExp) =>
    numbers.reduce((all, [name, tokens]) => (pattern.test(name) ? all + tokens : all), 0)
  const [input, output, read, written, reasoning] = [sum(/input/), sum(/output/),
    sum(/^(?:cache_read_input_tokens|input_cached_tokens|input_cache_read)$/),
    sum(/^(?:cache_creation_input_tokens|input_cache_creation)$/), sum(/^output_reasoning/)]
  const inputs = { ...read > 0 && { cache_read: read },
    ...written > 0 && { cache_creation: written } }
  return { input_tokens: input, output_tokens: output, ...costsOf(attributes),
    total_tokens: numbers.find(([name]) => name === 'total')?.[1] ?? input + output,
    ...read + written > 0 && { input_token_details: inputs },
    ...reasoning > 0 && { output_token_details: { reasoning } } }
}

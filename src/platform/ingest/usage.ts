/** What a model used: tokens and costs, from where clients write them. Nothing else is parsed. */

import { isObject } from '../../json/index.ts'
import { itemsAt, memberAt } from './json-bytes.ts'
import type { MemberPlace } from './json-bytes.ts'

/** Tokens and costs of a span; null for what nobody said. */
export interface Usage {
  readonly promptTokens: number | null
  readonly completionTokens: number | null
  readonly totalTokens: number | null
  readonly promptCost: number | null
  readonly completionCost: number | null
  readonly totalCost: number | null
  /** Tokens by their kind, such as `cache_read`: a part of the others. Missing if nobody said. */
  readonly details?: TokenKinds
}

/** Tokens by their kind. */
export interface TokenKinds {
  readonly prompt: Readonly<Record<string, number>>
  readonly completion: Readonly<Record<string, number>>
}

/** No usage. */
export const noUsage: Usage = { promptTokens: null, completionTokens: null, totalTokens: null,
  promptCost: null, completionCost: null, totalCost: null }

const member = 'usage_metadata'
/** Generations that are looked at: one for each prompt and choice. */
const generationsMax = 1000
/** Bytes that usage may have: it is a few numbers. */
const usageMax = 64 * 1024
/** Kinds of tokens that are kept. */
const kindsMax = 50

/** The usage in valid outputs: at their top, or summed over the messages that were generated. */
export function usageOfOutputs(outputs: Buffer): Usage | undefined {
  if (!outputs.includes(member)) return undefined
  const top = memberAt(outputs, 0, member)
  if (top !== undefined) return usageAt(outputs, top)
  const generations = memberAt(outputs, 0, 'generations')
  if (generations === undefined) return undefined
  let [sum, looked] = [undefined as Usage | undefined, 0]
  for (const prompt of itemsAt(outputs, generations.from)) {
    for (const { from } of itemsAt(outputs, prompt.from)) {
      if (++looked > generationsMax) return sum
      const usage = usageOfMessage(outputs, from)
      sum = sum === undefined || usage === undefined ? sum ?? usage : added(sum, usage)
    }
  }
  return sum
}

function usageOfMessage(outputs: Buffer, generation: number): Usage | undefined {
  const message = memberAt(outputs, generation, 'message')
  if (message === undefined) return undefined
  const kwargs = memberAt(outputs, message.from, 'kwargs')
  const place = memberAt(outputs, message.from, member) ??
    (kwargs && memberAt(outputs, kwargs.from, member))
  return place && usageAt(outputs, place)
}

/** The usage at a place of valid JSON; undefined if there is none. */
export function usageAt(bytes: Buffer, { from, to }: MemberPlace): Usage | undefined {
  return to - from > usageMax ? undefined : usageOf(JSON.parse(bytes.toString('utf8', from, to)))
}

function usageOf(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined
  const [prompt, completion] = [tokens(value.input_tokens), tokens(value.output_tokens)]
  const [promptCost, completionCost] = [cost(value.input_cost), cost(value.output_cost)]
  return {
    promptTokens: prompt,
    completionTokens: completion,
    totalTokens: tokens(value.total_tokens) ?? plus(prompt, completion),
    promptCost,
    completionCost,
    totalCost: cost(value.total_cost) ?? plus(promptCost, completionCost),
    ...kindsOf(value.input_token_details, value.output_token_details),
  }
}

function kindsOf(prompt: unknown, completion: unknown): Pick<Usage, 'details'> {
  if (!isObject(prompt) && !isObject(completion)) return {}
  return { details: { prompt: numbersIn(prompt), completion: numbersIn(completion) } }
}

function numbersIn(value: unknown): Readonly<Record<string, number>> {
  if (!isObject(value)) return {}
  return Object.fromEntries(Object.entries(value).slice(0, kindsMax)
    .filter((entry): entry is [string, number] => tokens(entry[1]) !== null))
}

function tokens(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? value as number : null
}

function cost(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 ? value : null
}

function plus(one: number | null, other: number | null): number | null {
  return one === null || other === null ? one ?? other : one + other
}

function added(one: Usage, other: Usage): Usage {
  return {
    promptTokens: plus(one.promptTokens, other.promptTokens),
    completionTokens: plus(one.completionTokens, other.completionTokens),
    totalTokens: plus(one.totalTokens, other.totalTokens),
    promptCost: plus(one.promptCost, other.promptCost),
    completionCost: plus(one.completionCost, other.completionCost),
    totalCost: plus(one.totalCost, other.totalCost),
    ...addedKinds(one.details, other.details),
  }
}

function addedKinds(one: TokenKinds | undefined,
  other: TokenKinds | undefined): Pick<Usage, 'details'> {
  const sum = (a: TokenKinds['prompt'] = {}, b: TokenKinds['prompt'] = {}) =>
    Object.fromEntries([...new Set([...Object.keys(a), ...Object.keys(b)])].slice(0, kindsMax)
      .map((kind) => [kind, (a[kind] ?? 0) + (b[kind] ?? 0)]))
  const lone = one === undefined || other === undefined ? one ?? other : undefined
  if (lone !== undefined) return { details: lone }
  if (one === undefined || other === undefined) return {}
  return {
    details: { prompt: sum(one.prompt, other.prompt),
      completion: sum(one.completion, other.completion) },
  }
}

/**
 * Usage of models: tokens and costs, read from the places where clients write them. Nothing else is
 * parsed.
 */

import { isObject, itemsAt, memberAt } from '../../json/index.ts'
import type { SpanFields } from './span.ts'
import { addedKinds, kindLengthMax, kindsMax, knownKinds } from './token-kinds.ts'
import type { ByKind, TokenKinds } from './token-kinds.ts'
import type { MemberPlace } from '../../json/index.ts'

/** Tokens and costs of a span; null where no client stated them. */
export type Usage = Pick<SpanFields,
  'promptTokens' | 'completionTokens' | 'totalTokens' | 'promptCost' | 'completionCost'
    | 'totalCost' | 'kinds'>

/** Usage without any tokens and costs. */
export const noUsage: Usage = { promptTokens: null, completionTokens: null, totalTokens: null,
  promptCost: null, completionCost: null, totalCost: null, kinds: null }

const member = 'usage_metadata'
/** Generations that are looked at: one for each prompt and choice. */
const generationsMax = 1000
/** Bytes that usage may have: it is a few numbers. */
const usageMax = 64 * 1024

/**
 * The usage in valid outputs: at their top, or summed over the generated messages. It has only the
 * costs that a client stated: `withSums` adds the sums.
 */
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
      sum = sum === undefined || usage === undefined
        ? sum ?? usage
        : addedUsage(sum, usage)
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

/** Usage from an object of this name, as clients write it; undefined for anything else. */
export function usageOf(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined
  const [prompt, completion] = [tokens(value.input_tokens), tokens(value.output_tokens)]
  return {
    promptTokens: prompt,
    completionTokens: completion,
    totalTokens: tokens(value.total_tokens) ?? plus(prompt, completion),
    promptCost: cost(value.input_cost),
    completionCost: cost(value.output_cost),
    totalCost: cost(value.total_cost),
    kinds: kindsIn(value),
  }
}

function kindsIn(
  { input_token_details: prompt, output_token_details: completion, input_cost_details: promptCost,
    output_cost_details: completionCost }: Readonly<
      Record<string, unknown>
    >,
): TokenKinds | null {
  // Most calls have none.
  if (![prompt, completion, promptCost, completionCost].some(isObject)) return null
  return knownKinds({ promptTokens: byKind(prompt, tokens),
    completionTokens: byKind(completion, tokens), promptCost: byKind(promptCost, cost),
    completionCost: byKind(completionCost, cost) })
}

/** The same usage, with the sums of its costs where no client stated them. */
export function withSums(usage: Usage): Usage {
  if (usage === noUsage) return usage
  const { promptCost, completionCost, totalCost, kinds } = usage
  const [prompt, completion] = [promptCost ?? sumOf(kinds?.promptCost),
    completionCost ?? sumOf(kinds?.completionCost)]
  return { ...usage, promptCost: prompt, completionCost: completion,
    totalCost: totalCost ?? plus(prompt, completion) }
}

function byKind(value: unknown, number: (each: unknown) => number | null): ByKind {
  if (!isObject(value)) return {}
  return Object.fromEntries(Object.entries(value).slice(0, kindsMax).flatMap(([kind, each]) => {
    const known = kind.length > kindLengthMax ? null : number(each)
    return known === null ? [] : [[kind, known]]
  }))
}

function sumOf(numbers: ByKind | undefined): number | null {
  return numbers === undefined ? null : dollars(Object.values(numbers).reduce((a, b) => a + b, 0))
}

/** Dollars without the digits that only binary arithmetic adds. */
export function dollars(sum: number): number {
  return Number(sum.toPrecision(12))
}

function tokens(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) >= 0 ? value as number : null
}

/** Dollars of one call above which a cost is a mistake: sums of such would say nothing. */
const costMax = 1e9

function cost(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 && value <= costMax ? value : null
}

function plus(one: number | null, other: number | null): number | null {
  return one === null || other === null ? one ?? other : one + other
}

/** Sums of two usages; null where both are null. */
export function addedUsage(one: Usage, other: Usage): Usage {
  return {
    promptTokens: plus(one.promptTokens, other.promptTokens),
    completionTokens: plus(one.completionTokens, other.completionTokens),
    totalTokens: plus(one.totalTokens, other.totalTokens),
    promptCost: plus(one.promptCost, other.promptCost),
    completionCost: plus(one.completionCost, other.completionCost),
    totalCost: plus(one.totalCost, other.totalCost),
    kinds: addedKinds(one.kinds, other.kinds),
  }
}

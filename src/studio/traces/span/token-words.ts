/** Tokens and costs of a span in words, with their kinds. Pure. */

import type { ByKind, Span } from '../../api/platform/traces.ts'
import { count } from '../../parts/amounts.ts'
import { dollars } from '../../parts/trace-words.ts'

const known: Readonly<Record<string, string>> = { cache_read: 'read from a cache',
  cache_creation: 'written to a cache' }

/** A kind of token, such as `cache_read`. */
const kindWords = (kind: string): string => known[kind] ?? kind.replaceAll('_', ' ')

type Tokens = Pick<Span,
  'prompt_tokens' | 'completion_tokens' | 'prompt_token_details' | 'completion_token_details'>
type Costs = Pick<Span, 'prompt_cost_details' | 'completion_cost_details'>

/** "1,000 in (900 read from a cache), 10 out (4 reasoning)". */
export function tokenWords(
  { prompt_tokens: prompt, completion_tokens: completion, prompt_token_details: promptKinds,
    completion_token_details: completionKinds }: Tokens,
): string {
  return `${count(prompt ?? 0)} in${inBrackets(promptKinds?.raw)}, ${count(completion ?? 0)} out${
    inBrackets(completionKinds?.raw)
  }`
}

/** "$0.09 read from a cache, $0.10 written to a cache"; empty if no cost is known by kind. */
export function costWords(
  { prompt_cost_details: prompt, completion_cost_details: completion }: Costs,
): string {
  return [prompt, completion].flatMap((kinds) =>
    some(kinds?.raw).map(([kind, cost]) => `${dollars(cost)} ${kindWords(kind)}`)
  ).join(', ')
}

function inBrackets(tokens: ByKind | undefined): string {
  const words = some(tokens).map(([kind, each]) => `${count(each)} ${kindWords(kind)}`)
  return words.length === 0 ? '' : ` (${words.join(', ')})`
}

function some(numbers: ByKind = {}): readonly (readonly [string, number])[] {
  return Object.entries(numbers).filter(([, each]) => each > 0)
}

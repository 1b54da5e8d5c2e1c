/** Words for what a run, or a whole thread, took and used. Pure. */

import type { UsageSum } from '../../api/platform/thread-usage.ts'
import { count, counted } from '../amounts.ts'

type Tokens = Pick<UsageSum, 'total_tokens' | 'cached_tokens' | 'reasoning_tokens'>

/** "1,234 tokens (900 cached, 64 reasoning)"; empty where none are known. */
export function tokenWords(
  { total_tokens: total, cached_tokens: cached, reasoning_tokens: reasoning }: Tokens,
): string {
  if (total === 0) return ''
  const parts = [...cached > 0 ? [`${count(cached)} cached`] : [],
    ...reasoning > 0 ? [`${count(reasoning)} reasoning`] : []]
  return `${counted(total, 'token')}${parts.length === 0 ? '' : ` (${parts.join(', ')})`}`
}

/** "gpt-4o, o3"; empty where no model is named. */
export const modelWords = ({ models }: Pick<UsageSum, 'models'>): string =>
  [...new Set(models.flatMap(({ model }) => model ?? []))].join(', ')

/** The tokens of both sides, for who points at their sum. */
export const sideWords = ({ input_tokens: read, output_tokens: written }: UsageSum): string =>
  `${count(read)} in, ${count(written)} out`

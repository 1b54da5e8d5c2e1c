/** Tokens and costs of a span in words. */

import { expect, it } from 'vitest'

import { costWords, tokenWords } from '../../../src/studio/traces/span/token-words.ts'

const plain = { prompt_tokens: 1000, completion_tokens: 10, prompt_token_details: null,
  completion_token_details: null, prompt_cost_details: null, completion_cost_details: null }

it('Kinds of tokens stand behind all tokens, where there are some', () => {
  expect(tokenWords(plain)).toBe('1,000 in, 10 out')
  expect(costWords(plain)).toBe('')
  const kinds = { ...plain,
    prompt_token_details: { raw: { cache_read: 900, cache_creation: 50, audio: 0 } },
    completion_token_details: { raw: { reasoning: 4 } },
    prompt_cost_details: { raw: { cache_read: 0.09 } } }
  expect(tokenWords(kinds)).toBe(
    '1,000 in (900 read from a cache, 50 written to a cache), 10 out (4 reasoning)',
  )
  expect(costWords(kinds)).toBe('$0.09 read from a cache')
})

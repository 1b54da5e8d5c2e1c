/** Random kinds of tokens. */

import fc from 'fast-check'

import type { TokenKinds } from '../../src/platform/spans/token-kinds.ts'

const byKind = (number: fc.Arbitrary<number>) =>
  fc.dictionary(fc.constantFrom('cache_read', 'cache_creation', 'reasoning', '__proto__'), number, {
    minKeys: 1,
    noNullPrototype: true,
  })
const tokens = byKind(fc.nat({ max: 500 }))
const costs = byKind(fc.constantFrom(0, 0.25, 0.5, 1 / 1024))

/** Of a span: null if nobody said any. */
export function someKinds(): fc.Arbitrary<TokenKinds | null> {
  return fc.option(
    fc.record({ promptTokens: tokens, completionTokens: tokens, promptCost: costs,
      completionCost: costs }, { requiredKeys: ['promptTokens'] }),
  )
}

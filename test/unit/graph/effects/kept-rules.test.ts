/** Rules for calls where a client cannot be seen: those of `once` are refused. */

import { expect, it } from 'vitest'

import { effectRulesOf } from '../../../../src/graph/effect-rule.ts'
import { requireKept } from '../../../../src/graph/effects/kept-rules.ts'

const charge = { match: 'POST https://a.example/charges', once: 'key' } as const
const model = { match: 'POST https://a.example/models', keep: 'answer' } as const
const fault = 'calls of fetch are not seen'

it('A rule with "once" is refused, with the rule and the client in one sentence.', () => {
  expect(() => requireKept(effectRulesOf([model, charge]), fault)).toThrow(
    'The effect "POST https://a.example/charges" cannot be kept from happening twice, because ' +
      'calls of fetch are not seen: no graph of this project runs.',
  )
  const refund = { match: 'POST https://a.example/refunds', once: 'key' } as const
  expect(() => requireKept(effectRulesOf([charge, refund]), fault)).toThrow('" and 1 more cannot')
})

it('What no client does, what may be missing, and what is seen runs.', () => {
  requireKept(effectRulesOf([{ name: 'mail', once: 'ask' }, model]), fault)
  requireKept(effectRulesOf([charge]), undefined)
})

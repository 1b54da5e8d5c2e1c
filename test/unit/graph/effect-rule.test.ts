/** The rules of langgraph.json for effects, and what is refused. */

import { expect, it } from 'vitest'

import { effectRulesOf, effectsShape } from '../../../src/graph/effect-rule.ts'

it('takes rules, each with its strength and its hours.', () => {
  const parsed = effectsShape.parse([
    { name: 'charge', once: 'key', key_hours: 2 },
    { name: 'mail/send', once: 'ask' },
    { name: 'model', keep: 'answer', on_error: 'keep' },
  ])
  expect(effectRulesOf(parsed)).toEqual([
    { name: 'charge', isCall: false, strength: 'key', keyHours: 2, keptOnError: false },
    { name: 'mail/send', isCall: false, strength: 'ask', keyHours: 24, keptOnError: false },
    { name: 'model', isCall: false, strength: 'keep', keyHours: 24, keptOnError: true },
  ])
  expect(effectRulesOf(undefined)).toEqual([])
})

const charge = { name: 'charge', once: 'key' }

it.each<[unknown, string]>([
  [{}, 'must be a list of rules'],
  [['charge'], 'must be {"name": "charge", "once": "key"}'],
  [[{ once: 'key' }], 'needs either "name" or "match"'],
  [[{ name: '', once: 'key' }], 'is no name of an effect'],
  [[{ name: ' a', once: 'key' }], 'is no name of an effect'],
  [[{ name: 'a'.repeat(129), once: 'key' }], 'is no name of an effect'],
  [[{ match: 'https://a.b/', once: 'key' }], 'must be a method, or *, and a URL of one host'],
  [[{ match: 'POST https://a.b/', name: 'a', once: 'key' }], 'needs either "name" or "match"'],
  [[{ name: 'charge' }], 'needs either "keep" or "once"'],
  [[{ ...charge, keep: 'answer' }], 'needs either "keep" or "once"'],
  [[{ ...charge, once: 'always' }], 'must be "key" or "ask"'],
  [[{ ...charge, key_hours: 0 }], 'must be above 0'],
  [[{ ...charge, key_hours: 9_000 }], 'may be a year at most'],
  [[{ name: 'mail', once: 'ask', key_hours: 1 }], '"key_hours" belongs to "once": "key"'],
  [[{ ...charge, on_error: 'keep' }], '"on_error" belongs to "keep": "answer"'],
  [[{ ...charge, colour: 'red' }], 'colour'],
  [[charge, { name: 'charge', once: 'ask' }], 'names an effect twice'],
  [[{ match: 'POST https://API.example/a', keep: 'answer' }],
    'matches no call: write it as "POST https://api.example/a"'],
  [[{ match: 'POST https://a.example:443/a', keep: 'answer' }],
    'write it as "POST https://a.example/a"'],
  [[{ match: 'POST https://a.example/b/../a', keep: 'answer' }],
    'write it as "POST https://a.example/a"'],
  [[{ match: '* https://a.example/**', keep: 'answer' }, { match: 'POST https://a.example/charges',
    once: 'key' }], 'because "* https://a.example/**" before it matches all of its calls'],
  [[{ match: 'POST https://a.example/*/pay', keep: 'answer' }, {
    match: 'POST https://a.example/v1/pay',
    once: 'key',
  }], 'matches no call, because'],
  [[{ match: '* https://a.example/**', once: 'key' }, { match: '* https://a.example/v1/**',
    keep: 'answer' }], 'matches no call, because'],
  [Array.from({ length: 101 }, (_, i) => ({ name: `e${i}`, once: 'key' })), 'may have 100 rules'],
])('refuses %j', (effects, message) => {
  const { error } = effectsShape.safeParse(effects)
  expect(error?.issues.map((issue) => issue.message).join('\n')).toContain(message)
})

it.each([
  ['POST https://a.example/charges', '* https://a.example/**'],
  ['POST https://a.example/**', 'GET https://a.example/x'],
  ['POST https://a.example/v1/*', 'POST https://a.example/v1/**'],
  ['POST https://a.example/v1/*', 'POST https://a.example/v1/a/b'],
  ['POST https://a.example/v1/**', 'POST https://b.example/v1/a'],
])('lets %s stand before %s', (first, second) => {
  const rules = [{ match: first, once: 'key' }, { match: second, keep: 'answer' }]
  expect(effectsShape.safeParse(rules).error).toBeUndefined()
})

/** What a human said first, in any form of an input. */

import { expect, it } from 'vitest'
import { RawJson } from '../../../../src/raw-json.ts'
import { openingOf } from '../../../../src/thread/model/opening.ts'

it.each<[unknown, string | undefined]>([
  [{ messages: [{ role: 'user', content: ' Hello ' }] }, 'Hello'],
  [{ messages: [{ type: 'system', content: 'x' }, { type: 'human', content: 'Hi' }] }, 'Hi'],
  [{ messages: { role: 'human', content: [{ type: 'image' }, { text: 'Look' }] } }, 'Look'],
  [{ messages: [['user', 'A pair']] }, 'A pair'],
  [{ messages: ['Text alone'] }, 'Text alone'],
  [{ messages: [{ role: 'assistant', content: 'x' }] }, undefined],
  [{ messages: [] }, undefined],
  [{ n: 1, topic: 'cats' }, 'cats'],
  ['A text', 'A text'],
  [{ messages: [{ role: 'user', content: 'x'.repeat(400) }] }, 'x'.repeat(300)],
  [{ messages: [{ role: 'user', content: `${'x'.repeat(299)}💡` }] }, `${'x'.repeat(299)}\ufffd`],
  [new RawJson('{"messages":[{"role":"user","content":"a \\"long\\" one"}]}'), 'a "long" one'],
  [{ messages: [new RawJson(`{"role":"user","content":"${'y'.repeat(500)}"}`)] }, 'y'.repeat(300)],
  [new RawJson('[1]'), undefined],
  [null, undefined],
  [{}, undefined],
])('is taken from %j', (input, opening) => {
  expect(openingOf(input)).toBe(opening)
})

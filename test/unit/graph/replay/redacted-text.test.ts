/** A state that a replay makes of redacted responses equals the state of the recorded run. */

import { expect, it } from 'vitest'

import { fitsRedacted } from '../../../../src/graph/replay/redacted-text.ts'

it.each([
  ['{"token":"********"}', '{"token":"abcdef"}'],
  ['a ***** b *** c', 'a x b y c'],
  ['****', 'all of it'],
  ['same', 'same'],
  ['a **bold** word', 'a **bold** word'],
])('accepts the text %j for %j', (redacted, text) => {
  expect(fitsRedacted(redacted, text)).toBe(true)
})

it.each([
  ['{"token":"********","n":1}', '{"token":"abcdef","n":2}'],
  ['a ***** b', 'a x c'],
  ['ab***ba', 'aba'],
  ['one', 'two'],
  ['a **bold** word', 'a very bold word'],
])('rejects the text %j for %j', (redacted, text) => {
  expect(fitsRedacted(redacted, text)).toBe(false)
})

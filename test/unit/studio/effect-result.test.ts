/** The result that a person says an effect had: what is taken, and what is refused in words. */

import { expect, it } from 'vitest'

import { resultIn } from '../../../src/studio/interrupts/effect-result.ts'

const json = { isJson: true, isCall: false }
const text = { isJson: false, isCall: false }

it('JSON is its value, and a text stays as it is', () => {
  expect(resultIn({ text: ' {"id": 7} ', ...json })).toEqual({ value: { id: 7 } })
  expect(resultIn({ text: 'null', ...json })).toEqual({ value: null })
  expect(resultIn({ text: '{"id": 7}', ...text })).toEqual({ value: '{"id": 7}' })
})

it('what is no result is refused in words', () => {
  expect(resultIn({ text: ' \n', ...json })).toEqual({ fault: expect.stringMatching(/^Give the/) })
  expect(resultIn({ text: '', ...text })).toEqual({ fault: expect.stringMatching(/^Give the/) })
  expect(resultIn({ text: '{"id":', ...json }))
    .toEqual({ fault: expect.stringMatching(/^This is no JSON: /) })
})

it('a result that would not be kept is refused, of a call by its bytes', () => {
  // Two quotes are part of it.
  const most = 'w'.repeat(256 * 1024 - 2)
  expect(resultIn({ text: most, ...text })).toEqual({ value: most })
  expect(resultIn({ text: `${most}w`, ...text }))
    .toEqual({ fault: expect.stringContaining('257 KB of at most 256 KB') })
  const body = 'ä'.repeat(190 * 512)
  expect(resultIn({ text: body, isJson: false, isCall: true })).toEqual({ value: body })
  expect(resultIn({ text: `${body}w`, isJson: false, isCall: true }))
    .toEqual({ fault: expect.stringContaining('191 KB of at most 190 KB') })
})

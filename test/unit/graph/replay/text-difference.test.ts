/** Of two texts, the part that differs is shown. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { textDifference } from '../../../../src/graph/replay/text-difference.ts'

it('Words around the difference are shown, and the rest is left out.', () => {
  const [begin, end] = ['a '.repeat(100), ' z'.repeat(100)]
  const [before, after] = textDifference(`${begin}short${end}`, `${begin}detail${end}`)
  expect(before).toMatch(/^…(?:a )+short(?: z)+…$/)
  expect(after).toMatch(/^…( ?a )+detail(?: z)+…$/)
  expect(before.length).toBeLessThan(140)
})

it('It is bounded, whatever the texts are.', () => {
  fc.assert(fc.property(fc.string(), fc.string(), (a, b) => {
    const [before, after] = textDifference(a, b)
    expect(before.length + after.length).toBeLessThanOrEqual(810)
    if (a !== b) expect(before).not.toBe(after)
  }))
})

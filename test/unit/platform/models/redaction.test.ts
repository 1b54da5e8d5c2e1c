/** Secrets in what endpoints say. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { Redaction } from '../../../../src/platform/evaluate/models/redaction.ts'
import { expectAlways } from '../../../support/expect-always.ts'

const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 60 })
const secret = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 8, maxLength: 10 })

it('A secret is taken out as it would be in one text, however the pieces are cut', () =>
  expectAlways(fc.property(secret, fc.array(fc.oneof(text, secret)), (key, pieces) => {
    const wanted = pieces.join('').replaceAll(key, '***')
    const redaction = new Redaction(key)
    expect(redaction.text(pieces.join(''))).toBe(wanted)
    let given = ''
    for (const piece of pieces) {
      given += redaction.piece(piece)
      expect(wanted.startsWith(given)).toBe(true)
    }
    expect(given + redaction.rest()).toBe(wanted)
    expect(redaction.rest()).toBe('')
  })))

it.each([null, 'none'])('Without a secret nothing is: %s', (key) => {
  const redaction = new Redaction(key)
  expect([redaction.text('none'), redaction.piece('none'), redaction.rest()])
    .toEqual(['none', 'none', ''])
})

it('A secret that looks like itself takes no longer than others', () => {
  const redaction = new Redaction(`${'a'.repeat(4_000)}b${'a'.repeat(4_000)}`)
  const pieces = Array.from({ length: 25_000 }, () => 'a'.repeat(40))
  // Minutes if each character were a new beginning.
  expect(pieces.map((piece) => redaction.piece(redaction.text(piece))).join('').length)
    .toBe(1_000_000 - 4_000)
}, 30_000)

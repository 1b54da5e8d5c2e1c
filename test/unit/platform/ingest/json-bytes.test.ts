/** Looking through JSON agrees with parsing it. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { itemsAt, jsonIn, memberAt, NotJson,
  visitMembers } from '../../../../src/json/json-bytes.ts'
import { expectAlways } from '../../../support/expect-always.ts'

/** Texts of JSON with spaces, and with characters written as escapes. */
const texts = fc.tuple(fc.jsonValue(), fc.constantFrom('', ' ', '\t\r\n '), fc.boolean())
  .map(([value, space, escaped]) => {
    const text = JSON.stringify(value, undefined, space)
    return escaped
      ? text.replaceAll(/[^\0-\x7f]/g,
        (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)
      : text.toWellFormed()
  })

const parses = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const passes = (bytes: Buffer) => {
  try {
    jsonIn(bytes)
    return true
  } catch (error) {
    expect(error).toBeInstanceOf(NotJson)
    return false
  }
}

it('What can be parsed passes, and nothing else.', () => {
  expectAlways(
    fc.property(texts, fc.nat(), fc.constantFrom(...'{}[],:"\\0123456789-+.eEtrufalsn \n\x01'),
      fc.integer({ min: 0, max: 2 }), (text, place, character, removed) => {
      expect(passes(Buffer.from(text))).toBe(true)
      const at = place % (text.length + 1)
      const changed = text.slice(0, at) + character + text.slice(at + removed)
      if (changed.isWellFormed()) expect(passes(Buffer.from(changed))).toBe(parses(changed))
      expect(passes(Buffer.from(text.slice(0, at).toWellFormed())))
        .toBe(parses(text.slice(0, at).toWellFormed()))
    }),
  )
})

it('Bytes that are no UTF-8, and what is nested too deep, do not pass.', () => {
  expect(passes(Buffer.from([0x22, 0xff, 0x22]))).toBe(false)
  expect(passes(Buffer.from('[{"a":'.repeat(250) + '0' + '}]'.repeat(250)))).toBe(true)
  expect(passes(Buffer.from('['.repeat(501) + ']'.repeat(501)))).toBe(false)
  expect(passes(Buffer.from('['.repeat(5_000_000)))).toBe(false)
  for (const text of ['', '"\\u12g4"', '"\\x"', '"\t"', '01', '1.', '-', '1e', 'nul', '{"a"}',
    '[1,]']) {
    expect(passes(Buffer.from(text)), text).toBe(false)
  }
})

it('Members and items are those that parsing finds; of two members the last counts.', () => {
  expectAlways(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.jsonValue()),
      (object, list) => {
        const bytes = Buffer.from(JSON.stringify(object, undefined, 1).toWellFormed())
        const parsed = JSON.parse(bytes.toString()) as Record<string, unknown>
        const found = new Map<string, unknown>()
        visitMembers(bytes, ({ name, from, to }) => {
          found.set(name, JSON.parse(bytes.toString('utf8', from, to)))
        })
        expect(found).toEqual(new Map(Object.entries(parsed)))
        const items = Buffer.from(JSON.stringify(list))
        expect(
          [...itemsAt(items, 0)].map(({ from, to }) =>
            JSON.parse(items.toString('utf8', from, to)) as unknown
          ),
        )
          .toEqual(JSON.parse(items.toString()))
      }),
  )
  const twice = Buffer.from('{"a":1,"a":22}')
  expect(memberAt(twice, 0, 'a')).toMatchObject({ from: 11, to: 13 })
  expect(memberAt(Buffer.from('[1]'), 0, 'a')).toBe(undefined)
})

/** Which texts of a value are embedded: the same as LangGraph's own store takes. */

import fc from 'fast-check'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it } from 'vitest'

import { textsAt } from '../../../src/items/item-texts.ts'
import { expectAlways } from '../../support/expect-always.ts'

/** The library exports it to itself only. */
const main = createRequire(import.meta.url).resolve('@langchain/langgraph-checkpoint')
const { getTextAtPath } = await import(
  pathToFileURL(join(dirname(main), 'store/utils.js')).href
) as { getTextAtPath(value: unknown, path: string): string[] }

const value = { a: 'x', '{a': 'open', n: 1, t: true, none: null, list: ['p', { b: 'q' }, ['r']],
  deep: { a: { b: 's' }, list: [{ b: 1 }, { b: 2 }] } }

const name = fc.constantFrom('a', 'b', 'n', 't', 'none', 'list', 'deep', '*')
const index = fc.constantFrom('[0]', '[-1]', '[*]', '[7]')
const fields = fc.constantFrom('{a,n}', '{deep.a.b, list}', '{missing,t}')
const unclosed = fc.constantFrom('[0', '[10', '{a', '{a.b')
/** The library takes nothing after fields or what is not closed. */
const path = fc.tuple(
  name,
  fc.array(fc.oneof(index, name.map((each) => `.${each}`)), { maxLength: 3 }),
  fc.option(fc.oneof(fields, unclosed).map((each) => `.${each}`), { nil: '' }),
).map(([first, steps, last]) => `${first}${steps.join('')}${last}`)

it('they are the same as in the library, for any path', () => {
  expectAlways(fc.property(path, (each) => {
    expect(textsAt(value, [each])).toEqual([...new Set(getTextAtPath(value, each))])
  }))
  for (const each of ['$', '', '{a', '[0']) {
    expect(textsAt(value, [each])).toEqual(getTextAtPath(value, each))
  }
})

it('names that every object inherits lead to nothing', () => {
  expect(textsAt(value, ['constructor.name'])).toEqual([])
  expect(textsAt(value, ['{__proto__,toString}'])).toEqual([])
})

it('paths that lead to the same again and again cost no more than what they lead to', () => {
  const deep = Array.from({ length: 60 }).reduce<unknown>((inside) => ({ a: inside }), 'x')
  expect(textsAt(deep, ['{a,a}'.repeat(60), '{a, a}'.repeat(60)])).toEqual(['x'])
})

it('paths that lead to too much are refused', () => {
  const wide = Array.from({ length: 1_000 }, () => ({ a: 'x' }))
  expect(() => textsAt(wide, [`[*]{${Array(60).fill('a').join()}}`])).toThrow('values')
  expect(() => textsAt(wide, ['a.'.repeat(300)])).toThrow('characters')
  const long = Array.from({ length: 100 }).reduce<unknown>((inside) => ({ a: inside }),
    'x'.repeat(512 * 1024))
  expect(() => textsAt(long, Array.from({ length: 50 }, (_, at) => `a${'.a'.repeat(at)}`)))
    .toThrow('characters')
})

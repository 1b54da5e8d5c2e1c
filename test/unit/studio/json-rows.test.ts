/** Trees of values: what differs between two of them, the rows of both, and what is found. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { applied, differenceOf } from '../../../src/studio/json/json-diff.ts'
import { changesIn, comparedRows, rowsOf } from '../../../src/studio/json/json-rows.ts'
import { branchesAbove, placesOf } from '../../../src/studio/json/json-search.ts'
import { branchWords, imageAddress, imageWords, messageWords,
  pathWords } from '../../../src/studio/json/json-words.ts'
import { expectAlways } from '../../support/expect-always.ts'

const value = fc.jsonValue({ maxDepth: 4 })
const members = fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd', ''), text: fc.string() })
const lists = fc.array(fc.oneof(members, value), { maxLength: 8 })
/** Two values that have something in common. */
const pairs = fc.oneof(fc.tuple(value, value), fc.tuple(lists, lists),
  fc.tuple(fc.dictionary(fc.constantFrom('a', 'b', '__proto__x'), lists),
    fc.dictionary(fc.constantFrom('a', 'b', '__proto__x'), lists)))

const open = () => true
const human = (id: string, content: unknown) => ({ type: 'human', id, content })

describe('a difference', () => {
  it('makes the one value of the other', () => {
    expectAlways(
      fc.property(pairs, ([before, after]) => {
        expect(applied(before, differenceOf(before, after))).toEqual(after)
      }),
    )
  })

  it('of equal values is none, whatever the order of keys', () => {
    expectAlways(fc.property(value, (one) => {
      expect(differenceOf(one, structuredClone(one))).toEqual({ kind: 'same' })
    }))
    expect(differenceOf({ a: 1, b: 2 }, { b: 2, a: 1 })).toEqual({ kind: 'same' })
  })

  it('stands values that are nested deeply', () => {
    const deep = (end: unknown) => {
      let all = end
      for (let level = 0; level < 3_000; level++) all = [all]
      return all
    }
    expect(differenceOf(deep(1), deep(1))).toEqual({ kind: 'same' })
    expect(differenceOf(deep(1), deep(2)).kind).toBe('list')
  })
})

describe('rows', () => {
  it('of a value are those of what is open', () => {
    const rows = rowsOf({ a: [1, 2], b: { c: null } }, ['values'], ({ name }) => name !== 'b')
    expect(rows.map(({ id, depth, isOpen }) => [id, depth, isOpen])).toEqual([
      ['', 0, true],
      ['/a', 1, true],
      ['/a/0', 2, null],
      ['/a/1', 2, null],
      ['/b', 1, false],
    ])
    expect(pathWords(rows[3]!.path)).toBe('values.a[1]')
  })

  it('have an id of their own, compared or not', () => {
    expectAlways(fc.property(pairs, ([before, after]) => {
      for (const rows of [rowsOf(after, [], open), comparedRows(before, after, [], open)]) {
        expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length)
        for (const [at, { depth }] of rows.entries()) {
          expect(depth).toBeLessThanOrEqual((rows[at - 1]?.depth ?? -1) + 1)
        }
      }
    }))
  })

  it('of two lists are matched by the ids of their members', () => {
    const rows = comparedRows({ messages: [human('1', 'a'), human('2', 'b'), human('3', 'c')] }, {
      messages: [human('1', 'a'), human('3', 'C'), human('4', 'd')],
    }, [], ({ depth, sign }) => depth === 0 || sign === 'inside')
    expect(rows.filter(({ sign }) => sign !== null && sign !== 'inside')
      .map(({ id, sign, name, before }) => [id, sign, name, before])).toEqual([
        ['/messages/-1', 'removed', 1, human('2', 'b')],
        ['/messages/1/content', 'changed', 'content', 'c'],
        ['/messages/2', 'added', 2, undefined],
      ])
  })

  it('tell that a member only moved', () => {
    const [one, two, three] = [human('1', 'a'), human('2', 'b'), human('3', 'c')]
    const rows = comparedRows([one, two, three], [two, three, one], [], ({ depth }) => depth === 0)
    expect(rows.map(({ sign, formerName }) => [sign, formerName])).toEqual([
      ['inside', null],
      [null, 1],
      [null, 2],
      ['moved', 0],
    ])
  })

  it('of changes that follow each other are one change', () => {
    const rows = comparedRows({ a: 1, b: 2, c: 3, d: 4 }, { a: 0, b: 0, c: 3, d: 0 }, [], open)
    expect(changesIn(rows).map((at) => rows[at]!.id)).toEqual(['/a', '/d'])
  })

  it('of 2,000 messages are made at once', () => {
    const state = {
      messages: Array.from({ length: 2_000 }, (_, at) => human(String(at), 'word '.repeat(500))),
    }
    const began = performance.now()
    expect(rowsOf(state, [], ({ depth }) => depth < 2)).toHaveLength(2_002)
    expect(placesOf(state, 'not there')).toEqual([])
    expect(performance.now() - began).toBeLessThan(1_000)
  })
})

describe('a search', () => {
  it('finds names and texts in closed branches, in the order of the tree', () => {
    const state = { Oslo: 1, list: [{ city: 'oslo' }, { 'a/b': 'in OSLO' }] }
    expect(placesOf(state, ' oslo ')).toEqual(['/Oslo', '/list/0/city', '/list/1/a~1b'])
    expect(placesOf(state, ' ')).toEqual([])
    expect(branchesAbove('/list/1/a~1b')).toEqual(['/list/1', '/list', ''])
  })
})

describe('words', () => {
  it('of a message are who speaks and what is said', () => {
    expect(messageWords(human('1', 'What is\nup?'))).toBe('human: What is up?')
    expect(messageWords({ type: 'ai', content: '', tool_calls: [{ name: 'get_weather' }] }))
      .toBe('ai: → get_weather')
    expect(messageWords({ role: 'user', content: [{ type: 'text', text: 'hi' }] }))
      .toBe('user: hi')
    expect(messageWords({ type: 'card', content: 'x' })).toBe(null)
  })

  it('of a branch are its keys or its length', () => {
    expect(branchWords([1, 2, 3])).toBe('[3]')
    expect(branchWords({})).toBe('{ }')
    expect(branchWords({ a: 1, 'two words': 2 })).toBe('{ a, two words }')
  })

  it('of a path are JavaScript', () => {
    expect(pathWords(['values', 'two words', 3, 'x'])).toBe('values["two words"][3].x')
  })

  it('of an image are its kind and size; only images of browsers are shown', () => {
    const data = 'data:image/png;base64,AAAA'
    expect(imageAddress(data, 'url', {})).toBe(data)
    expect(imageWords(data)).toBe('image/png, 3 B')
    expect(imageAddress('AAAA', 'data', { mime_type: 'image/jpeg' }))
      .toBe('data:image/jpeg;base64,AAAA')
    expect(imageAddress('data:text/html,<b>', 'url', {})).toBe(null)
    expect(imageAddress('https://example.com/a.png', 'url', {})).toBe(null)
  })
})

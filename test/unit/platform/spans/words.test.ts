/** Words: where one is found in a text, and that an index of words finds it there too. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { searchedMax, searchedTexts,
  wordsOfSpan } from '../../../../src/platform/spans/searched-text.ts'
import { addWords, hasWord, indexedWords,
  positionOf } from '../../../../src/platform/spans/words.ts'

it.each([
  ['time', 'a timeout', true],
  ['out', 'a timeout', false],
  ['out', 'timeout, out', true],
  ['time-out', 'the time-outs', true],
  ['-out', 'the time-outs', true],
  ['c-3', 'abc-3', false],
  ['ö', 'köln', false],
  ['köln', '(köln)', true],
  ['漢字', '私は漢字を', true],
  ['?!', 'what?!', true],
  ['a', `b${'a'.repeat(50)} a`, true],
  ['aaaaaaaaaaaaaaaaaaaa', `b${'a'.repeat(50)}`, false],
  ['aaaaaaaaaaaaaaaaaaaa', `b ${'a'.repeat(50)}`, true],
])('%s in %s: %s', (word, text, expected) => {
  expect(hasWord(text, word)).toBe(expected)
})

const characters = fc.constantFrom('a', 'b', 'ö', '1', '-', ' ', '漢', '😀', '.')
const someText = (maxLength: number) =>
  fc.array(characters, { minLength: 1, maxLength }).map((all) => all.join(''))

it('An index has what it must have of each text in which a word is found.', () => {
  fc.assert(fc.property(someText(60), someText(40), fc.nat(60), (text, other, at) => {
    const cut = text.slice(at % text.length).replaceAll(' ', '')
    for (const word of [cut, other.replaceAll(' ', '')]) {
      if (word === '' || !hasWord(text, word)) continue
      const kept = new Set<string>()
      addWords(kept, text)
      for (const { text: part, isPrefix } of indexedWords(word)) {
        expect(isPrefix ? [...kept].some((each) => each.startsWith(part)) : kept.has(part))
          .toBe(true)
      }
    }
  }), { interruptAfterTimeLimit: 300, markInterruptAsFailure: false, numRuns: 2_000 })
})

it('A long word is found where indexOf finds it.', () => {
  const few = (maxLength: number) =>
    fc.array(fc.constantFrom('a', 'b'), { maxLength }).map((all) => all.join(''))
  fc.assert(fc.property(few(60), few(8), fc.nat(50), (text, more, from) => {
    const word = 'ab'.repeat(8) + more
    expect(positionOf(text, word, from)).toBe(text.indexOf(word, from))
    expect(positionOf(text + word, word, from)).toBe((text + word).indexOf(word, from))
  }), { interruptAfterTimeLimit: 200, markInterruptAsFailure: false, numRuns: 1_000 })
})

it('A long word and a text of its near misses take as long as the text is.', () => {
  const text = `${'a'.repeat(199)} `.repeat(10_000)
  const costOf = (...words: readonly string[]) => {
    const { user: before } = process.threadCpuUsage()
    for (const word of words) expect(hasWord(text, word)).toBe(false)
    return process.threadCpuUsage().user - before
  }
  const [one, other] = ['x', 'y'].map((letter) => letter.repeat(200)) as [string, string]
  costOf(one, other)
  // By comparing at each place it took two hundred times as long.
  expect(costOf(`b${'a'.repeat(199)}`, `${'ab-'.repeat(66)}c`))
    .toBeLessThan(50 * Math.max(1_000, costOf(one, other)))
})

it('Texts of a payload are those of its values, as JSON says them, up to a bound.', () => {
  const inputs = { 'a key': 'One "two"', list: ['tHree\n', 4, { deep: 'é\\' }], '\\': '' }
  const payload = { inputs: Buffer.from(JSON.stringify(inputs, null, 1)),
    extra: Buffer.from('{"runtime":{"x":"no"},"metadata":{"user":"Ann"}}'),
    error: Buffer.from('"T\\u00e9st"') }
  expect([...searchedTexts(payload, 'inputs')]).toEqual(['one "two"', 'three\n', 'é\\', ''])
  expect([...searchedTexts(payload, 'inputs', 5)]).toEqual(['one "'])
  expect([...searchedTexts(payload, 'metadata')]).toEqual(['ann'])
  expect([...searchedTexts(payload, 'error')]).toEqual(['tést'])
  expect([...searchedTexts(payload, 'outputs')]).toEqual([])
  expect([...wordsOfSpan('My agent', payload)!]).toEqual(['my', 'agent', 'tést', 'one', 'two',
    'three', 'é', 'ann'])
  const long = Buffer.from(JSON.stringify({ a: 'x '.repeat(searchedMax), b: 'y' }))
  expect([...searchedTexts({ inputs: long }, 'inputs')].join('')).toHaveLength(searchedMax)
  const many = Array.from({ length: 20_001 }, (_, n) => `w${n}`).join(' ')
  expect(wordsOfSpan(null, { inputs: Buffer.from(JSON.stringify({ many })) })).toBeUndefined()
})

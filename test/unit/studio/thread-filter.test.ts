/** What is typed into the filter box, what a request asks for, and the address between them. */

import { defaultParseSearch, defaultStringifySearch } from '@tanstack/react-router'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { readRunListSearch, runStates } from '../../../src/studio/addresses/runs.ts'
import { readThreadListSearch, threadStates,
  timeSpans } from '../../../src/studio/addresses/threads.ts'
import { filterOf, filterText, filterWords, partsOf,
  withMetadata } from '../../../src/studio/threads/thread-filter.ts'
import { expectAlways } from '../../support/expect-always.ts'

const nowMs = Date.parse('2026-11-27T12:00:00Z')

const word = fc.string({ minLength: 1, unit: 'grapheme' }).filter((text) => text !== '')
const scalar = fc.oneof(fc.string({ unit: 'grapheme' }), fc.integer(), fc.boolean(),
  fc.constant(null),
  fc.double({ noNaN: true, noDefaultInfinity: true }).filter((each) => !Object.is(each, -0)))
const parts = fc.record({
  words: fc.array(word, { maxLength: 4 }),
  metadata: fc.dictionary(word, scalar, { maxKeys: 4, noNullPrototype: true }),
  ids: fc.array(fc.uuid(), { maxLength: 2 }),
  after: fc.option(fc.constantFrom('2026-11-01', '2026-11-01T10:00:00Z'), { nil: undefined }),
  before: fc.option(fc.constantFrom('2026-12-01'), { nil: undefined }),
})

describe('a filter', () => {
  it('is written as a text that reads as the same filter', () => {
    expectAlways(fc.property(parts, (wanted) => {
      expect(partsOf(filterText(wanted))).toEqual(wanted)
    }))
  })

  it('reads any text without a failure, and then reads as it is written', () => {
    expectAlways(fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
      const read = partsOf(text)
      expect(partsOf(filterText(read))).toEqual(read)
    }))
  })

  it.each([
    ['user:ada', { metadata: { user: 'ada' } }],
    ['n:5', { metadata: { n: 5 } }],
    ['n:"5" b:true', { metadata: { n: '5', b: true } }],
    ['n:007', { metadata: { n: '007' } }],
    ['city:"New York" looms', { q: 'looms', metadata: { city: 'New York' } }],
    ['"user:ada"', { q: 'user:ada' }],
    ['updated>2026-11-01', { updated_after: '2026-11-01T00:00:00.000Z' }],
    ['user:', {}],
    ['', {}],
    ['01a21699-1111-4222-8333-0123450f258d', { ids: ['01a21699-1111-4222-8333-0123450f258d'] }],
  ])('%s asks for %o', (q, wanted) => {
    expect(filterOf({ q }, nowMs)).toEqual(wanted)
  })

  it('joins the box with the choices beside it', () => {
    expect(filterOf({ q: 'a', status: 'error', graph: 'agent', since: '24h' }, nowMs)).toEqual({
      q: 'a',
      status: 'error',
      metadata: { graph_id: 'agent' },
      updated_after: '2026-11-26T12:00:00.000Z',
    })
  })

  it('gets one pair more by a click on it', () => {
    expect(withMetadata('looms user:ada', 'channel', 'the web')).toBe(
      'looms user:ada channel:"the web"',
    )
    expect(withMetadata('user:ada', 'user', 'grace')).toBe('user:grace')
  })

  it('is said in words before something is done by it', () => {
    expect(filterWords({})).toBe('all threads')
    expect(
      filterWords({ q: 'a', status: 'idle', metadata: { n: 5 },
        updated_before: '2026-11-27T00:41:34.872Z' }),
    )
      .toBe('status idle · words “a” · n = 5 · updated before 2026-11-27 00:41:34 UTC')
  })
})

describe('an address', () => {
  const optional = <Value>(values: fc.Arbitrary<Value>) => fc.option(values, { nil: undefined })

  it('of threads reads as it was written', () => {
    expectAlways(fc.property(
      fc.record({
        q: optional(word),
        status: optional(fc.constantFrom(...threadStates)),
        graph: optional(word),
        since: optional(fc.constantFrom(...timeSpans)),
        sort: optional(fc.constantFrom('created' as const, 'updated-asc' as const)),
        at: optional(fc.uuid()),
      }),
      (search) => {
        const read = readThreadListSearch(defaultParseSearch(defaultStringifySearch(search)))
        expect(read).toEqual(search)
      },
    ))
  })

  it('of runs reads as it was written', () => {
    expectAlways(fc.property(
      fc.record({ status: optional(fc.constantFrom(...runStates)), graph: optional(word),
        since: optional(fc.constantFrom(...timeSpans)) }),
      (search) => {
        expect(readRunListSearch(defaultParseSearch(defaultStringifySearch(search)))).toEqual(
          search,
        )
      },
    ))
  })

  it('that holds anything is read as far as it makes sense', () => {
    expect(readThreadListSearch({ q: { a: 1 }, status: 'gone', since: 4 })).toEqual({})
  })
})

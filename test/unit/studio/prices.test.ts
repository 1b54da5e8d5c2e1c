/** Prices on the page: what a person writes, and which rows are shown. */

import { describe, expect, it } from 'vitest'

import { linearPattern } from '../../../src/settings/index.ts'
import { bodyOf, draftFor, draftOf, faultsOf,
  patternFor } from '../../../src/studio/prices/price-draft.ts'
import { perMillion, priceRows } from '../../../src/studio/prices/price-rows.ts'

const draft = { name: 'weaver-7', provider: '', input: '2.5', cachedInput: '', output: '10' }
const own = { id: '1', name: 'weaver-7', match_pattern: '^w', prompt_cost: 2.5e-6,
  completion_cost: 1e-5, provider: 'looms', prompt_cost_details: { cache_read: 1e-7, audio: 1e-4 } }

describe('a draft', () => {
  it('becomes costs of one token', () => {
    expect(bodyOf(draft, undefined)).toEqual({ name: 'weaver-7', provider: null,
      match_pattern: patternFor('weaver-7'), prompt_cost: 2.5e-6, completion_cost: 1e-5,
      prompt_cost_details: null })
    expect(bodyOf({ ...draft, cachedInput: '0.1', provider: ' looms ' }, undefined)).toMatchObject({
      provider: 'looms',
      prompt_cost_details: { cache_read: 1e-7 },
    })
  })

  it('keeps what the form does not show, and the pattern as long as the name is the same', () => {
    const changed = { ...draft, cachedInput: '' }
    expect(bodyOf(changed, own)).toMatchObject({ match_pattern: '^w',
      prompt_cost_details: { audio: 1e-4 } })
    expect(bodyOf({ ...changed, name: 'weaver-8' }, own).match_pattern)
      .toBe(patternFor('weaver-8'))
  })

  it('says what is wrong with it', () => {
    expect(faultsOf(draft)).toEqual({})
    expect(faultsOf({ ...draft, cachedInput: ' 0.01 ' })).toEqual({})
    for (const bad of ['', '-1', 'NaN', '1e308', 'Infinity', '1,5', '0x1', '1000000.1', '<b>1</b>',
      '9'.repeat(400)]) {
      expect(Object.keys(faultsOf({ ...draft, input: bad, output: bad })), bad)
        .toEqual(['input', 'output'])
    }
    expect(Object.keys(faultsOf({ ...draft, name: ' ', cachedInput: '-0' })))
      .toEqual(['name', 'cachedInput'])
    expect(Object.keys(faultsOf({ ...draft, name: 'x'.repeat(10_240) }))).toEqual(['name'])
    expect(draftFor('x'.repeat(10_240)).name).toHaveLength(200)
  })

  it('of a price is that price', () => {
    const [row] = priceRows([own], [], '')
    expect(draftOf(row!)).toEqual({ ...draft, provider: 'looms', cachedInput: '0.1' })
  })
})

describe('a pattern', () => {
  it('finds its name whole, also with a provider, a day or a version', () => {
    const fits = (name: string, other: string) => linearPattern(patternFor(name))!.test(other)
    for (const name of ['weaver-7', 'a/weaver-7', 'eu.loom.weaver-7', 'weaver-7-20260101',
      'weaver-7@20260101', 'weaver-7-2026-01-01', 'weaver-7-latest', 'weaver-7-v2:0'])
      expect(fits('weaver-7', name), name).toBe(true)
    for (const name of ['weaver-70', 'weaver-7-mini', 'weaverx7', 'my-weaver-7', '']) {
      expect(fits('weaver-7', name), name).toBe(false)
    }
  })

  it('takes every character for itself', () => {
    for (const name of ['a.b', 'a+b (c)', '[x]{2}', '^$|\\', '<img src=x>', 'ü·模', 'a-b/c']) {
      const pattern = linearPattern(patternFor(name))
      expect(pattern?.test(name), name).toBe(true)
      expect(pattern?.test(`${name}x`), name).toBe(false)
    }
    expect(linearPattern(patternFor('a.b'))!.test('axb')).toBe(false)
  })
})

it('Rows of the workspace come first, and words find names and providers', () => {
  const usual = [{ provider: 'openai', name: 'gpt-4o', input: 2.5, cached_input: 1.25,
    cache_write: null, output: 10 }]
  const names = (q: string) => priceRows([own], usual, q).map(({ name }) => name)
  expect(names('')).toEqual(['weaver-7', 'gpt-4o'])
  expect(names('OPENAI 4o')).toEqual(['gpt-4o'])
  expect(names('loom')).toEqual(['weaver-7'])
  expect(names('.*')).toEqual([])
  expect(perMillion(0.15e-6)).toBe(0.15)
})

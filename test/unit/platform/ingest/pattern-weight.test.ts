/** Cost of the patterns of prices: the caller chooses names and patterns, and so their product. */

import { expect, it } from 'vitest'

import { patternWeight,
  patternWeightMax } from '../../../../src/platform/ingest/pricing/pattern-weight.ts'
import { pricedBy, PriceList } from '../../../../src/platform/ingest/pricing/price-list.ts'
import { pricesOver } from '../../../../src/platform/ingest/pricing/prices.ts'
import { noUsage } from '../../../../src/platform/spans/usage.ts'
import { virtualEnv } from '../../../support/env.ts'

const price = { match_path: ['model'], prompt_cost: 1e-6, completion_cost: 2e-6, provider: null,
  start_time: null }
const usage = { ...noUsage, promptTokens: 1, completionTokens: 1, totalTokens: 2 }
const listOf = (patterns: readonly string[]) =>
  new PriceList(patterns.map((match_pattern) => ({ ...price, match_pattern })))
const named = (model: string) => ({ model, provider: null, invocation: {} })

it.each([
  ['^gpt-4o$', 8],
  ['a{3}', 3],
  ['a{2,}', 3],
  ['[a-z]{2,4}', 20],
  ['(a|b){4}', 16],
  ['((a{2}){3}){2}', 20],
  ['\\d{4}-\\(', 11],
  ['a{b}', 4],
  ['[', 1],
  [')(', 1],
  ['[\\]x]{2}', 10],
])('the pattern %s weighs %i', (pattern, weight) => {
  expect(patternWeight(pattern)).toBe(weight)
})

/** A pattern that is larger than it looks, and names that all differ. */
const heavy = '(.?){16}(.?){16}'
const names = Array.from({ length: 100 }, (_, n) => named(`${'a'.repeat(190)}${n}`))

it('a list of 1 000 patterns finds names until its steps are used up', () => {
  const list = listOf(Array.from({ length: 1_000 }, () => heavy))
  for (const each of names) list.priced({ names: each, startUs: 0, usage })
  const known = names.filter((each) => list.knows(each)).length
  expect(known).toBeGreaterThan(0)
  expect(known).toBeLessThan(10)
  // A name that is known stays known, and the others have no cost.
  expect(list.priced({ names: names[0]!, startUs: 0, usage })).toBeDefined()
  expect(list.priced({ names: names[99]!, startUs: 0, usage })).toBeUndefined()
})

it('the search for a name pauses for other work, and is not done again', async () => {
  const list = listOf(Array.from({ length: 1_000 }, () => heavy))
  let turns = 0
  let isOver = false
  const other = () => {
    turns++
    if (!isOver) setImmediate(other)
  }
  setImmediate(other)
  let works = 0
  const models = names.slice(0, 2).map(({ model }) => model)
  const costs = await pricedBy(list, (of) => {
    works++
    return models.map((model) => of({ model }, usage, 0).totalCost)
  })
  isOver = true
  expect(costs).toEqual([3e-6, 3e-6])
  expect(turns).toBeGreaterThan(20)
  await pricedBy(list, (of) => {
    works++
    return of({ model: models[0]! }, usage, 0)
  })
  expect(works).toBe(3)
})

it('a usual list prices all names, and leaves out names that are too long', async () => {
  const list = listOf(Array.from({ length: 300 }, (_, n) => `^model-${n}(-\\d{4}-\\d{2})?$`))
  const cost = await pricedBy(list,
    (of) =>
      Array.from({ length: 20 }, (_, n) => of({ model: `model-${n}-2026-11` }, usage, 0).totalCost))
  expect(cost).toEqual(Array(20).fill(3e-6))
  expect(listOf(['a']).priced({ names: named('a'.repeat(201)), startUs: 0, usage })).toBeUndefined()
})

it('a pattern that takes too long is rejected, and skipped if it was stored before', async () => {
  const large = '(.?){16}'.repeat(60)
  expect(patternWeight(large)).toBeGreaterThan(patternWeightMax)
  const prices = pricesOver({} as never, virtualEnv())
  await expect(prices.create('t', { ...price, name: 'large', match_pattern: large }))
    .rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining('too long') })
  expect(listOf([large, 'tiny']).priced({ names: named('tiny'), startUs: 0, usage }))
    .toMatchObject({ totalCost: 3e-6 })
})

/** What the runs of a thread used: each call once, by the prices of its time. */

import { expect, it } from 'vitest'

import { PriceList, pricerOf } from '../../../../src/platform/ingest/pricing/price-list.ts'
import { usageOfRuns, usageSum } from '../../../../src/platform/query/own/thread-usage.ts'
import type { UsageStep } from '../../../../src/platform/query/own/thread-usage.ts'

const own = (match_pattern: string, prompt_cost: number, more: object = {}) => ({ match_pattern,
  match_path: [], prompt_cost, completion_cost: 10 * prompt_cost, provider: null, start_time: null,
  ...more })

interface StepIn {
  readonly id: number
  readonly run: string
  readonly parent?: number | null
  readonly messages?: readonly (readonly object[])[]
}

/** Steps in their order; each is the child of the one before it unless it names its parent. */
const steps = (...all: readonly StepIn[]): UsageStep[] =>
  all.map(({ id, run, parent = id - 1, messages = [] }) => ({ checkpoint_id: String(id),
    parent_checkpoint_id: parent === null ? null : String(parent),
    created_at: new Date(Date.UTC(2026, 0, 31) + id * 1_000).toISOString(),
    metadata: { run_id: run }, tasks: messages.map((each) => ({ messages: each as never })) })
  ).toReversed()

const ai = (id: string | null, model: string | undefined, input: number, output: number,
  more: object = {}) => ({ id, type: 'ai', model,
    usage_metadata: { input_tokens: input, output_tokens: output, total_tokens: input + output,
      ...more } })

const human = (id: string) => ({ id, type: 'human' })

function usage(all: readonly UsageStep[], ...prices: readonly object[]) {
  const runs = usageOfRuns(all, pricerOf(new PriceList(prices as never)))
  return Object.fromEntries([...runs].map(([run, { models, lastMessage }]) => {
    const { usage: { totalTokens, totalCost, kinds }, calls, unpriced } = usageSum(models)
    return [run, { calls, tokens: totalTokens, cost: totalCost, kinds, unpriced, lastMessage }]
  }))
}

const chat = steps({ id: 1, run: 'a', messages: [[human('h')]] }, { id: 2, run: 'a',
  messages: [[ai('1', 'm', 100, 10)]] }, { id: 3, run: 'a', messages: [[ai('2', 'm', 200, 20)]] }, {
  id: 4,
  run: 'a',
})

it('A run has the tokens and the cost of what its models wrote', () => {
  expect(usage(chat, own('^m$', 1e-6))).toEqual({
    a: { calls: 2, tokens: 330, cost: 300e-6 + 300e-6, kinds: null, unpriced: [],
      lastMessage: '2' },
  })
})

it('A model without a price has no cost, and is named', () => {
  expect(usage(chat)['a']).toMatchObject({ tokens: 330, cost: null, unpriced: ['m'] })
  const two = steps({ id: 1, run: 'a',
    messages: [[ai('1', 'm', 100, 0)], [ai('2', 'other', 50, 0)], [ai('3', undefined, 1, 0)]] }, {
    id: 2,
    run: 'a',
  })
  expect(usage(two, own('^m$', 1e-6))['a']).toMatchObject({ calls: 3, tokens: 151, cost: 100e-6,
    unpriced: ['other', 'a model without a name'] })
})

it('Cached tokens have their own price, and reasoning that of the output', () => {
  const one = steps({ id: 1, run: 'a', messages: [[ai('1', 'm', 1_000, 100, {
    input_token_details: { cache_read: 900 },
    output_token_details: { reasoning: 80 },
  })]] }, { id: 2, run: 'a' })
  const price = own('^m$', 1e-6, { prompt_cost_details: { cache_read: 1e-7 } })
  expect(usage(one, price)['a']).toMatchObject({ cost: 100e-6 + 90e-6 + 1_000e-6,
    kinds: { promptTokens: { cache_read: 900 }, completionTokens: { reasoning: 80 },
      promptCost: { cache_read: 90e-6 }, completionCost: { reasoning: 800e-6 } } })
})

it('A message that is written again counts once, in the run that wrote it first', () => {
  const again = steps({ id: 1, run: 'a', messages: [[ai('1', 'm', 100, 10)]] }, { id: 2, run: 'a' },
    { id: 3, run: 'b', messages: [[ai('1', 'm', 100, 10), ai('2', 'm', 5, 0)]] }, { id: 4,
    run: 'b' })
  expect(usage(again)).toMatchObject({ a: { tokens: 110, lastMessage: '1' },
    b: { calls: 1, tokens: 5, lastMessage: '2' } })
})

it('A step that two branches go on from counts once', () => {
  const forked = steps({ id: 1, run: 'a', messages: [[ai('1', 'm', 100, 0)]] }, { id: 2, run: 'a' },
    { id: 3, run: 'b', parent: 1 })
  const both = usage(forked)
  expect(both['a']).toMatchObject({ calls: 1, tokens: 100 })
  expect(both['b']).toMatchObject({ calls: 0, tokens: null })
})

it('Tasks of a last step that led nowhere count, and messages without ids each', () => {
  const failed = steps({ id: 1, run: 'a', messages: [[human('h')]] }, { id: 2, run: 'a',
    messages: [[ai(null, 'm', 1, 0)], [ai(null, 'm', 2, 0)]] })
  expect(usage(failed)['a']).toMatchObject({ calls: 2, tokens: 3, lastMessage: 'h' })
})

it('A cost that a message says stays, and broken numbers count for nothing', () => {
  const said = steps({ id: 1, run: 'a', messages: [[ai('1', 'm', 10, 0, { total_cost: 0.5 })], [
    ai('2', 'm', 10, 0, { total_cost: 1e308 }),
  ], [ai('3', 'm', -4, Number.NaN)]] }, { id: 2, run: 'a' })
  expect(usage(said, own('^m$', 1))['a']).toMatchObject({ calls: 3, cost: 10.5 })
})

it('Of more than a hundred models the others have no cost', () => {
  const many = steps({ id: 1, run: 'a',
    messages: [Array.from({ length: 120 }, (_, n) => ai(String(n), `m${n}`, 1, 0))] }, { id: 2,
    run: 'a' })
  expect(usage(many, own('^m', 1))['a']).toMatchObject({ cost: 100, tokens: 120 })
})

it('The price of the time of a call counts', () => {
  const at = (start_time: string, cost: number) => own('^m$', cost, { start_time })
  expect(usage(chat, at('2026-02-01', 5), at('2026-01-01', 1), at('2025-01-01', 3))['a']!.cost)
    .toBe(600)
})

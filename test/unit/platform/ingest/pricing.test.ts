/** What models cost: by the prices of a workspace, where a client says no costs. */

import { expect, it } from 'vitest'

import { modelNames } from '../../../../src/platform/ingest/pricing/model-names.ts'
import { PriceList } from '../../../../src/platform/ingest/pricing/price-list.ts'
import { noUsage } from '../../../../src/platform/spans/usage.ts'
import { linearPattern } from '../../../../src/settings/index.ts'
import { ingestHouse } from './ingest-house.ts'

const id = '01930000-0000-7000-8000-000000000001'
const start = '2026-11-26T14:30:00.123456Z'
const price = { match_pattern: '^tiny', match_path: ['model', 'model_name'], prompt_cost: 1e-6,
  completion_cost: 2e-6, provider: null, start_time: null }
const tokens = { input_tokens: 100, output_tokens: 10, total_tokens: 110 }

async function costs(...given: Parameters<typeof call>) {
  const { promptCost, completionCost, totalCost } = await call(...given)
  return [promptCost, completionCost, totalCost]
}

async function call(prices: readonly object[], extra: object, usage: object = tokens) {
  const house = ingestHouse(undefined, prices as readonly Record<string, unknown>[])
  await house.multipart([{ kind: 'post',
    run: { id, trace_id: id, name: 'm', run_type: 'llm',
      dotted_order: `20261126T143000123456Z${id}`, start_time: start, end_time: start, extra,
      outputs: { usage_metadata: usage }, session_name: 'p' } }])
  return (await house.spans()).get(id)!
}

const named = (ls_model_name: string, more: object = {}) => ({
  metadata: { ls_model_name, ...more },
})
const usual = [100e-6, 20e-6, 120e-6]
const none = [null, null, null]

it('A model is found by its name, wherever it stands', async () => {
  expect(await costs([price], named('tiny-1'))).toEqual(usual)
  expect(await costs([price], { invocation_params: { model_name: 'tiny-1' } })).toEqual(usual)
  expect(await costs([price], { invocation_params: { model: 'big', model_name: 'tiny-1' } }))
    .toEqual(none)
  expect(await costs([price], { ...named('big'), invocation_params: { model: 'tiny' } }))
    .toEqual(none)
  expect(await costs([price], named('not tiny'))).toEqual(none)
  expect(await costs([price], {})).toEqual(none)
  expect(await costs([], named('tiny'))).toEqual(none)
})

it('Costs that a client gives are kept', async () => {
  expect(await costs([price], named('tiny'), { ...tokens, input_cost: 1, output_cost: 2 }))
    .toEqual([1, 2, 3])
  expect(await costs([price], named('tiny'), {})).toEqual(none)
})

it('Kinds of tokens have prices of their own', async () => {
  const prices = [{ ...price, prompt_cost_details: { cache_read: 1e-7, audio: 1e-5 } }]
  const usage = { ...tokens, input_token_details: { cache_read: 60, audio: 10, image: 5 } }
  expect(await costs(prices, named('tiny'), usage)).toEqual([136e-6, 20e-6, 156e-6])
  const wrong = { ...tokens, input_token_details: { cache_read: 900 } }
  expect(await costs(prices, named('tiny'), wrong)).toEqual([10e-6, 20e-6, 30e-6])
})

const cachePrices = { ...price, prompt_cost: 0.001, completion_cost: 0.01,
  prompt_cost_details: { cache_read: 0.0001, cache_creation: 0.002 } }
const cached = { input_tokens: 1000, output_tokens: 10,
  input_token_details: { cache_read: 900, cache_creation: 50 },
  output_token_details: { reasoning: 4 } }

it('Kinds of tokens are kept, each with what it costs', async () => {
  expect(await call([cachePrices], named('tiny'), cached)).toMatchObject({ promptCost: 0.24,
    completionCost: 0.1, totalCost: 0.34,
    kinds: { promptTokens: { cache_read: 900, cache_creation: 50 },
      completionTokens: { reasoning: 4 }, promptCost: { cache_read: 0.09, cache_creation: 0.1 },
      completionCost: { reasoning: 0.04 } } })
  expect((await call([], named('tiny'), cached)).kinds).toEqual({
    promptTokens: cached.input_token_details,
    completionTokens: { reasoning: 4 },
  })
  expect((await call([cachePrices], named('tiny'))).kinds).toBeNull()
})

it('A cost that a client says wins over the prices, kind by kind', async () => {
  const said = (more: object) => call([cachePrices], named('tiny'), { ...cached, ...more })
  expect(await said({ input_cost_details: { cache_read: 0.5 } })).toMatchObject({
    promptCost: 0.65,
    totalCost: 0.75,
    kinds: { promptCost: { cache_read: 0.5, cache_creation: 0.1 } },
  })
  expect(await said({ input_cost: 2, input_cost_details: { other: 1 } })).toMatchObject({
    promptCost: 2,
    completionCost: 0.1,
    totalCost: 2.1,
    kinds: { promptCost: { other: 1 } },
  })
  const total = await said({ total_cost: 7, output_cost_details: { reasoning: 3 } })
  expect(total).toMatchObject({ promptCost: null, completionCost: 3, totalCost: 7 })
  const unpriced = { ...cached, input_cost_details: { a: 0.1, b: 0.2 } }
  expect(await costs([], named('tiny'), unpriced)).toEqual([0.3, null, 0.3])
})

it('Kinds are few, have short names and numbers that are no less than zero', async () => {
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`k${n}`, n]))
  const { kinds } = await call([], {}, { ...tokens, input_token_details: many,
    output_token_details: { ['x'.repeat(65)]: 1, below: -1, text: '1', fine: 2 } })
  expect(Object.keys(kinds!.promptTokens!)).toHaveLength(50)
  expect(kinds!.completionTokens).toEqual({ fine: 2 })
})

it('Kinds that OpenTelemetry names have their prices, and the others the usual one', async () => {
  const house = ingestHouse(undefined, [cachePrices])
  const attributes = { 'gen_ai.request.model': 'tiny', 'gen_ai.usage.input_tokens': 1000,
    'gen_ai.usage.output_tokens': 10, 'gen_ai.usage.cache_read.input_tokens': 900,
    'gen_ai.usage.cache_creation.input_tokens': 50, // So the client for Python writes it.
    'gen_ai.usage.output_token_details': "{'reasoning': 4}" }
  const span = { traceId: '5b8efff798038103d269b633813fc60c', spanId: 'eee19b7ec3c1b174',
    name: 'chat', startTimeUnixNano: '1764187200123456789', endTimeUnixNano: '1764187201123456789',
    attributes: Object.entries(attributes).map(([key, value]) => ({ key,
      value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) } })
    ) }
  await house.send({ form: 'otlp', contentType: 'application/json',
    body: Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] })) })
  const [head] = [...(await house.spans()).values()]
  expect(head).toMatchObject({ type: 'llm', promptCost: 0.24, completionCost: 0.1, totalCost: 0.34,
    kinds: { promptTokens: { cache_read: 900, cache_creation: 50 },
      completionTokens: { reasoning: 4 } } })
})

it('The price of a provider comes first, then the latest that has begun', async () => {
  const own = { ...price, provider: 'own', prompt_cost: 1, completion_cost: 0 }
  expect(await costs([own, price], named('tiny', { ls_provider: 'own' }))).toEqual([100, 0, 100])
  expect(await costs([own, price], named('tiny', { ls_provider: 'other' }))).toEqual(usual)
  const at = (start_time: string, prompt_cost: number) => ({ ...price, start_time, prompt_cost,
    completion_cost: 0 })
  const prices = [at('2027-01-01', 3), at('2026-01-01T00:00:00Z', 2), at('2025-01-01', 1)]
  expect(await costs(prices, named('tiny'))).toEqual([200, 0, 200])
})

it('A pattern matches in linear time, or is none', () => {
  expect(linearPattern('^(a|aa)+$')!.test('a'.repeat(200) + 'b')).toBe(false)
  for (const pattern of ['(', '(a)\\1', '(?=a)', 'a{1,1000}']) {
    expect(linearPattern(pattern)).toBeUndefined()
  }
  const names = modelNames(Buffer.from('{"metadata":{"ls_model_name":"tiny"}}'))!
  const usage = { ...noUsage, promptTokens: 1, completionTokens: 1, totalTokens: 2 }
  const list = (patterns: readonly string[]) =>
    new PriceList(patterns.map((match_pattern) => ({ ...price, match_pattern })))
  expect(list(['(a)\\1', 'tiny']).priced({ names, startUs: 0, usage })).toBeDefined()
  const long = Array.from({ length: 20 }, () => `x${'a'.repeat(999)}`)
  expect(list([...long, 'tiny']).priced({ names, startUs: 0, usage })).toBeUndefined()
})

it('Names are short texts', () => {
  const extra = (value: object) => Buffer.from(JSON.stringify(value))
  expect(modelNames(extra(named('x'.repeat(201))))).toBeUndefined()
  expect(modelNames(extra({ metadata: { ls_model_name: 5 } }))).toBeUndefined()
  expect(modelNames(extra({ metadata: 5, invocation_params: { model: 'é', n: 5 } })))
    .toEqual({ model: undefined, provider: null, invocation: { model: 'é' } })
})

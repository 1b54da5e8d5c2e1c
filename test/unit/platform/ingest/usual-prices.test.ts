/** Built-in prices: rows that can be read, and names as providers and hosts write them. */

import { expect, it } from 'vitest'

import { PriceList } from '../../../../src/platform/ingest/pricing/price-list.ts'
import { usualPriceOf, usualPrices } from '../../../../src/platform/ingest/pricing/usual-models.ts'
import { noUsage } from '../../../../src/platform/spans/usage.ts'

const found = (model: string, provider: string | null = null) => {
  const price = usualPriceOf({ model, provider, invocation: {} })
  return price && `${price.provider} ${price.name}`
}

it('Every row has a provider, a name and prices that make sense', () => {
  expect(usualPrices.asOf).toMatch(/^20\d\d-[01]\d-[0-3]\d$/)
  for (const { provider, name, input, cachedInput, cacheWrite, output } of usualPrices.prices) {
    expect(`${provider} ${name}`).toMatch(/^[a-z]+ [a-z0-9.-]+$/)
    for (const price of [input, output, cachedInput ?? 0, cacheWrite ?? 0]) {
      expect(price, name).toBeGreaterThanOrEqual(0)
      expect(price, name).toBeLessThanOrEqual(1_000)
    }
    expect(cachedInput ?? 0, name).toBeLessThanOrEqual(input)
    expect(found(name, provider)).toBe(`${provider} ${name}`)
  }
  const rows = usualPrices.prices.map(({ provider, name }) => `${provider} ${name}`)
  expect(new Set(rows).size).toBe(rows.length)
})

it('A name may have a day, a version, a provider and a host around it', () => {
  for (const [name, price] of Object.entries({
    'gpt-4o': 'openai gpt-4o',
    'GPT-4o-2024-08-06': 'openai gpt-4o',
    'gpt-4o-2024-05-13': 'openai gpt-4o-2024-05-13',
    'openai/gpt-4.1-mini': 'openai gpt-4.1-mini',
    'gpt-4.1-mini-2025-04-14': 'openai gpt-4.1-mini',
    'gpt-4-0125-preview': 'openai gpt-4-0125-preview',
    'models/gemini-2.5-flash-preview-09-2025': 'google gemini-2.5-flash',
    'gemini-2.0-flash-001': 'google gemini-2.0-flash',
    'claude-sonnet-4-20250514': 'anthropic claude-sonnet-4',
    'claude-sonnet-4@20250514': 'anthropic claude-sonnet-4',
    'us.anthropic.claude-3-5-sonnet-20241022-v2:0': 'anthropic claude-3-5-sonnet',
    'anthropic/claude-sonnet-4.5': 'anthropic claude-sonnet-4-5',
    'claude-3-5-haiku-latest': 'anthropic claude-3-5-haiku',
    'mistral-large-latest': 'mistral mistral-large',
    'accounts/fireworks/models/llama-v3p3-70b-instruct': 'fireworks llama-v3p3-70b-instruct',
    'meta-llama/Llama-3.3-70B-Instruct-Turbo': 'together llama-3.3-70b-instruct-turbo',
    'us.meta.llama3-3-70b-instruct-v1:0': 'bedrock llama3-3-70b-instruct',
  })) expect(found(name), name).toBe(price)
})

it('A name that only begins as a known one has no price', () => {
  for (const name of ['gpt-4o-audio', 'gpt-4o-mini-realtime', 'gpt-5-turbo', 'my-gpt-4o', 'o1x',
    'llama3.1:8b', 'mistral', '', '/', '-latest', 'constructor', '__proto__',
    `${'-latest'.repeat(28)}`, '<b>gpt-4o</b>']) expect(found(name), name).toBeUndefined()
})

it("A model on a machine of one's own costs nothing that is known", () => {
  expect(found('deepseek-chat', 'ollama')).toBeUndefined()
  expect(found('deepseek-chat', 'deepseek')).toBe('deepseek deepseek-chat')
})

it('A host that has its own price is preferred', () => {
  expect(found('meta-llama/llama-4-scout-17b-16e-instruct', 'together')).toContain('together')
  expect(found('meta-llama/llama-4-scout-17b-16e-instruct', 'groq')).toContain('groq')
})

it('The price of a workspace wins over the usual one, from its time on', () => {
  const names = { model: 'gpt-4o', provider: 'openai', invocation: {} }
  const usage = { ...noUsage, promptTokens: 1_000_000, completionTokens: 0, totalTokens: 1_000_000,
    kinds: { promptTokens: { cache_read: 500_000 } } }
  const price = { match_pattern: '^gpt-4o$', match_path: null, prompt_cost: 1, completion_cost: 1,
    provider: null, start_time: '2026-01-01' }
  const cost = (own: readonly object[], startUs: number) =>
    new PriceList(own as never).priced({ names, startUs, usage })?.totalCost
  expect(cost([], 0)).toBe(1.875)
  expect(cost([price], 0)).toBe(1.875)
  expect(cost([price], Date.UTC(2026, 1) * 1_000)).toBe(1_000_000)
})

it('A price of a kind that is no number of dollars is left out', () => {
  const usage = { ...noUsage, promptTokens: 10, completionTokens: 0, totalTokens: 10,
    kinds: { promptTokens: { cache_read: 10 } } }
  const names = { model: 'm', provider: null, invocation: {} }
  for (const cache_read of [-1, 1e308, 'NaN', 'Infinity', null, {}]) {
    const list = new PriceList([{ match_pattern: '^m$', prompt_cost: 1, completion_cost: 1,
      prompt_cost_details: { cache_read } }])
    expect(list.priced({ names, startUs: 0, usage })?.totalCost).toBe(10)
  }
})

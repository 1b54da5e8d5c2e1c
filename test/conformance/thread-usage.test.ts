/** What the runs of a thread took and cost: by prices that may change, and as their traces say. */

import { expect, it } from 'vitest'

import type { ThreadUsage } from '../../src/api/index.ts'
import { say } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { ask } from '../support/wire.ts'

const server = useServer()

async function threadAfter(...turns: readonly string[]): Promise<string> {
  const { thread_id: id } = await server.client.threads.create()
  for (const turn of turns) await server.client.runs.wait(id, 'metered', { input: say(turn) })
  return id
}

const usageOf = async (id: string) =>
  (await ask(server.url, 'GET', `/threads/${id}/usage`)).body as ThreadUsage

const costs = { prompt_cost: 1e-3, completion_cost: 1e-2 }

it('says of each run its time, its tokens and its cost, and of the thread their sum', async () => {
  const id = await threadAfter('gpt-4o-mini-2024-07-18 1000 100 800 60',
    'gpt-4o 10 1\nunheard-of-1 5 2')
  const { runs, total, is_partial: isPartial } = await usageOf(id)
  const messages = (await server.client.threads.getState(id)).values as {
    messages: { id: string }[]
  }
  const [second, first] = runs
  // $0.15, $0.075 cached and $0.60 for a million.
  const cost = 200 * 0.15e-6 + 800 * 0.075e-6 + 100 * 0.6e-6
  expect(first).toMatchObject({ status: 'success', calls: 1, input_tokens: 1_000,
    output_tokens: 100, total_tokens: 1_100, cached_tokens: 800, reasoning_tokens: 60,
    models: [{ model: 'gpt-4o-mini-2024-07-18', calls: 1, total_tokens: 1_100 }],
    unpriced_models: [], message_id: messages.messages[1]!.id })
  expect(first!.cost).toBeCloseTo(cost, 12)
  expect(second).toMatchObject({ calls: 2, total_tokens: 18, unpriced_models: ['unheard-of-1'],
    message_id: messages.messages.at(-1)!.id,
    models: [{ model: 'gpt-4o', cost: 3.5e-5 }, { model: 'unheard-of-1', cost: null }] })
  expect(total).toMatchObject({ calls: 3, total_tokens: 1_118, cached_tokens: 800,
    unpriced_models: ['unheard-of-1'], duration_ms: first!.duration_ms! + second!.duration_ms! })
  expect(total.cost).toBeCloseTo(cost + 3.5e-5, 12)
  expect(isPartial).toBe(false)
})

it('agrees with the trace of the run', async () => {
  const id = await threadAfter('gpt-4o 100 10')
  const { runs: [run] } = await usageOf(id)
  const place = (await ask(server.url, 'GET', `/api/v1/runs/${run!.run_id}`)).body
  const { session_id: project } = place as { session_id: string }
  const { body } = await ask(server.url, 'POST', '/api/v1/runs/query', { session: [project],
    trace: run!.run_id })
  const spans = (body as { runs: Record<string, string>[] }).runs
  const { start_time: start, end_time: end, total_tokens: tokens, total_cost: cost } = spans.find((
    { id: each },
  ) => each === run!.run_id)!
  expect(spans.filter(({ run_type: type }) => type === 'llm')).toHaveLength(1)
  const at = (iso: string) => Date.parse(/Z$|[+-]\d\d:\d\d$/.test(iso) ? iso : `${iso}Z`)
  expect({ tokens, cost: Number(cost), start: at(start!), end: at(end!) }).toEqual({ tokens: 110,
    cost: run!.cost, start: Date.parse(run!.started_at!), end: Date.parse(run!.ended_at!) })
})

it('follows a price that is set, changed and deleted', async () => {
  const id = await threadAfter('weaver-7 10 1')
  const cost = async () => (await usageOf(id)).total.cost
  const path = '/api/v1/model-price-map'
  const body = { name: 'weaver-7', match_pattern: '^weaver-7$', ...costs }
  expect(await cost()).toBeNull()
  const made = (await ask(server.url, 'POST', path, body)).body as { id: string }
  expect(await cost()).toBe(0.02)
  await ask(server.url, 'PUT', `${path}/${made.id}`, { ...body, prompt_cost: 0.1 })
  expect(await cost()).toBe(1.01)
  await ask(server.url, 'DELETE', `${path}/${made.id}`)
  expect(await cost()).toBeNull()
})

it('refuses prices that are no prices, and shows names as they are', async () => {
  const path = '/api/v1/model-price-map'
  const good = { name: 'm', match_pattern: '^m$', ...costs }
  for (const bad of [{ prompt_cost: -1 }, { completion_cost: 1e308 }, { prompt_cost: null }, {
    prompt_cost: 'NaN',
  }, { name: 'x'.repeat(10_240) }, { match_pattern: '(a+)\\1' }, {
    match_pattern: 'a{1,100000}',
  }]) {
    const { status } = await ask(server.url, 'POST', path, { ...good, ...bad })
    expect(status, JSON.stringify(bad).slice(0, 60)).toBe(422)
  }
  const name = '<img src=x onerror=alert(1)>'
  const made = await ask(server.url, 'POST', path, { ...good, name, match_pattern: '^<img' })
  expect(made.body).toMatchObject({ name })
  const id = await threadAfter(`<img> 10 1`)
  expect((await usageOf(id)).total).toMatchObject({ cost: 0.02, models: [{ model: '<img>' }] })
  await ask(server.url, 'DELETE', `${path}/${(made.body as { id: string }).id}`)
})

it('knows a thread without runs, and none that is not there', async () => {
  const { thread_id: id } = await server.client.threads.create()
  expect(await usageOf(id)).toMatchObject({ runs: [], is_partial: false,
    total: { calls: 0, total_tokens: 0, cost: null, duration_ms: null } })
  const missing = await ask(server.url, 'GET',
    '/threads/01930000-0000-7000-8000-000000000001/usage')
  expect(missing.status).toBe(404)
})

it('lists the built-in prices with the day on which they were known', async () => {
  const { status, body } = await ask(server.url, 'GET', '/api/v1/model-price-map/usual')
  expect(status).toBe(200)
  expect(body).toMatchObject({ as_of: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
    prices: expect.arrayContaining([{ provider: 'openai', name: 'gpt-4o', input: 2.5,
      cached_input: 1.25, cache_write: null, output: 10 }]) })
})

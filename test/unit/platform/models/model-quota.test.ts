/** What a tenant may ask models on a day: on all members, over restarts, and until midnight. */

import { expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { modelQuotaOver } from '../../../../src/platform/evaluate/models/model-quota.ts'
import type { ModelQuota } from '../../../../src/platform/evaluate/models/model-quota.ts'
import { tracedModels } from '../../../../src/platform/evaluate/models/traced-models.ts'
import type { TracedModelsOptions } from '../../../../src/platform/evaluate/models/traced-models.ts'
import { virtualEnv } from '../../../support/env.ts'
import { CatalogHouse } from '../catalog/catalog-house.ts'

const forever = new AbortController().signal
const dayMs = 86_400_000

function house(limits = { calls: 5, tokens: 100 }) {
  const env = virtualEnv()
  const catalogs = new CatalogHouse().client()
  const member = () => modelQuotaOver(catalogs, limits, env)
  return { env, member, catalogs }
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  return await work.then(() => 'done', (error: unknown) => HeddleError.from(error).code)
}

const begin = (quota: ModelQuota, tenant = 'acme') => codeOf(quota.begin(tenant))

it('Calls end with the quota, however many begin at once, until midnight in UTC.', async () => {
  const { env, member } = house()
  const quota = member()
  const codes = await Promise.all(Array.from({ length: 8 }, () => begin(quota)))
  expect(codes.filter((code) => code === 'done')).toHaveLength(5)
  expect(codes.filter((code) => code === 'over_quota')).toHaveLength(3)
  expect(await begin(quota, 'acme@shop')).toBe('over_quota')
  expect(await begin(quota, 'other')).toBe('done')
  const error = await quota.begin('acme').catch((caught: unknown) => caught) as HeddleError
  expect(error.details).toMatchObject({ quota: { name: 'model_calls', limit: 5 } })
  const leftMs = dayMs - env.nowMs() % dayMs
  expect(error.details.retryAfterSeconds).toBe(Math.ceil(leftMs / 1_000))
  env.advance(leftMs)
  expect(await begin(quota)).toBe('done')
})

it('Tokens that a call took end the next ones.', async () => {
  const { member } = house()
  const quota = member()
  expect(await begin(quota)).toBe('done')
  quota.spend('acme', 99)
  expect(await codeOf(quota.requireLeft('acme'))).toBe('done')
  quota.spend('acme', 1)
  expect(await begin(quota)).toBe('over_quota')
})

it('The use and the refusals of today are those of all deployments and members.', async () => {
  const { env, member } = house()
  const [one, other] = [member(), member()]
  for (const quota of [one, one, other]) await begin(quota, 'acme@shop')
  other.spend('acme', 101)
  await one.close()
  env.advance(6_000)
  const uses = [{ name: 'model_calls', limit: 5, used: 3 }, { name: 'model_tokens', limit: 100,
    used: 101 }]
  expect(await other.useOf('acme')).toEqual(uses)
  expect(await begin(other)).toBe('over_quota')
  expect(other.stats()).toEqual({ highest: { model_calls: 0.6, model_tokens: 1.01 },
    refused: { model_calls: 0, model_tokens: 1 } })
  env.advance(dayMs)
  expect((await other.useOf('acme')).map(({ used }) => used)).toEqual([0, 0])
  expect(other.stats().highest).toEqual({ model_calls: 0, model_tokens: 0 })
})

it('The use outlives a member, and counts on all of them.', async () => {
  const { env, member } = house()
  const [one, other] = [member(), member()]
  for (const quota of [one, other, one, other]) expect(await begin(quota)).toBe('done')
  await Promise.all([one.close(), other.close()])
  const third = member()
  expect(await begin(third)).toBe('done')
  expect(await begin(third)).toBe('over_quota')
  await third.close()
  env.advance(6_000)
  expect(await begin(one)).toBe('over_quota')
})

it('A record that cannot be reached refuses nobody who has something left.', async () => {
  const { env } = house()
  const lost = () => Promise.reject(new HeddleError('unavailable'))
  const quota = modelQuotaOver({ get: lost, create: lost, change: lost }, { calls: 1, tokens: 1 },
    env)
  expect(await begin(quota)).toBe('done')
  expect(await begin(quota)).toBe('over_quota')
})

it('Calls of the playground count with their tokens, or with their text.', async () => {
  const { env, member } = house({ calls: 10, tokens: 1_000 })
  const spent: number[] = []
  const quota = member()
  const usages = [{ inputTokens: 3, outputTokens: 4 }, null]
  const models = { requireCallable: async () => {}, stream: async function*() {
    yield { text: 'x'.repeat(36) }
    yield { end: { text: '', usage: usages.shift()! } }
  } } as unknown as TracedModelsOptions['models']
  const traced = tracedModels({ models, env: { ...env, uuid7: crypto.randomUUID.bind(crypto) },
    ingest: () =>
      ({ ingest: async () => ({}) }) as unknown as ReturnType<
        TracedModelsOptions['ingest']
      >,
    quota: { ...quota, requireLeft: (tenant) => quota.requireLeft(tenant),
      begin: (tenant) => quota.begin(tenant), spend: (_, tokens) => void spent.push(tokens) } })
  const call = {
    endpoint: { dialect: 'openai', url: 'https://m.example', model: 'm', secret: null,
      parameters: {} },
    messages: [{ role: 'user', content: 'Hi!!' }],
  } as const
  for (let calls = 0; calls < 2; calls++) {
    for await (const _ of traced.stream({ tenant: 'acme', project: 'p', call }, forever)) continue
  }
  expect(spent).toEqual([7, 10])
  quota.spend('acme', 1_000)
  expect(await codeOf(traced.requireCallable('acme', call))).toBe('over_quota')
  const refused = traced.stream({ tenant: 'acme', project: 'p', call }, forever)
  const events = refused[Symbol.asyncIterator]()
  expect(await codeOf(events.next())).toBe('over_quota')
})

it('A clock that jumps ahead frees no use of a day, and a clock that goes back loses none.',
  async () => {
    const { env, catalogs } = house()
    let aheadMs = 0
    const shifted = { ...env, nowMs: () => env.nowMs() + aheadMs }
    const member = () => modelQuotaOver(catalogs, { calls: 2, tokens: 100 }, shifted)
    const quota = member()
    for (let calls = 0; calls < 2; calls++) expect(await begin(quota)).toBe('done')
    aheadMs = 500 * dayMs
    expect(await begin(quota)).toBe('over_quota')
    await quota.close()
    // A member that starts while the clock is ahead counts on that day.
    const wrong = member()
    expect(await begin(wrong)).toBe('done')
    await wrong.close()
    aheadMs = 0
    const right = member()
    expect(await begin(right)).toBe('done')
    await right.close()
    expect(await begin(member())).toBe('over_quota')
  })

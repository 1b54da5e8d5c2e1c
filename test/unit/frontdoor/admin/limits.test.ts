/** Limits over HTTP: what callers see of their own, and admins of their tenant. */

import { describe, expect, it } from 'vitest'

import { keyAdmin, TenantKeys } from '../../../../src/access/index.ts'
import type { CallerRole } from '../../../../src/access/index.ts'
import { addressReader, limitGate } from '../../../../src/frontdoor/index.ts'
import type { FrontDoorOptions } from '../../../../src/frontdoor/index.ts'
import { limitUseService, limitWords, rateLimits, RefusedCallers,
  unlimited } from '../../../../src/limits/index.ts'
import type { Platform } from '../../../../src/platform/index.ts'
import { virtualEnv } from '../../../support/env.ts'
import { MemoryKeys } from '../../../support/memory-keys.ts'
import { issuer, keySetFile, token } from '../../../support/sessions.ts'
import { ownCounters } from '../../limits/own-counters.ts'
import { call, openDoor } from '../open-front-door.ts'

/** Limits with these counts, whose counters are here. */
function limits(counts: Readonly<Record<string, number>>) {
  const rows = rateLimits('us', new Map(Object.entries(counts)
    .map(([name, count]) => [name, { count }])))
  const { env, clients, counters } = ownCounters(rows)
  const refused = new RefusedCallers(env)
  const service = limitUseService({ counters, clients, refused })
  const addressOf = addressReader([])
  let asked = 0
  const options: Partial<FrontDoorOptions> = {
    limit: limitGate({ rows, clients, addressOf, refused }),
    limits: { rows, addressOf, ask: async (question) => {
      asked++
      return [await service.answer(question)]
    } },
  }
  return { options, counters, asked: () => asked }
}

/** A door with keys, and callers of it. */
async function guarded(counts: Readonly<Record<string, number>>) {
  const world = limits(counts)
  const table = new MemoryKeys()
  const parts = { table, region: 'us', env: virtualEnv() }
  const door = await openDoor({ ...world.options, tenantKeys: new TenantKeys(parts),
    auth: { keys: table, region: 'us', regionUrls: { us: '' }, addressOf: addressReader([]),
      sessions: { issuer, audience: '', keys: keySetFile() } } })
  const as = async (tenant: string, role: CallerRole = 'developer') => {
    const { key, id } = await keyAdmin(parts).create({ tenant, role, name: '', expiresInMs: null })
    const send = (method: string, path: string, body?: unknown) =>
      call(door, method, path, body, { 'x-api-key': key })
    return { id, send }
  }
  return { ...world, door, as }
}

interface Report {
  readonly rows: readonly Record<string, unknown>[]
  readonly quotas: readonly Record<string, unknown>[]
  readonly enabled: boolean
}

const reportIn = ({ json }: { readonly json: unknown }) => json as Report
const rowIn = (report: Report, id: string) => report.rows.find((row) => row['id'] === id)

describe('the limits of a caller', () => {
  it('are the rows that may count it, with what is left', async () => {
    const { as } = await guarded({ 'default-key': 5 })
    const { send } = await as('acme')
    for (let n = 0; n < 3; n++) await send('POST', '/threads/search', {})
    const report = reportIn(await send('GET', '/limits'))
    expect(report.enabled).toBe(true)
    expect(rowIn(report, 'default-key')).toEqual({ id: 'default-key',
      words: 'All other requests: assistants, threads, runs', category: 'Default (API key)',
      pattern: 'Any request with x-api-key', limit: 5, window_s: 10, remaining: 2,
      reset_s: expect.any(Number), refused: 0 })
    expect(report.rows.map(({ id }) => id)).toContain('catch-all')
    expect(rowIn(report, 'default-user')).toBeUndefined()
  })

  it('are not charged for, however often they are read', async () => {
    const { as, door, counters, asked } = await guarded({ 'default-key': 2, 'catch-all': 2 })
    const { send } = await as('acme')
    const answers = await Promise.all(Array.from({ length: 30 }, () => send('GET', '/limits')))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect([counters.size, asked()]).toEqual([0, 1])
    expect(rowIn(reportIn(answers[0]!), 'default-key')).toMatchObject({ remaining: 2, reset_s: 0 })
    for (const method of ['POST', 'POST', 'PUT']) await send(method, '/limits')
    expect((await send('POST', '/limits')).status).toBe(429)
    // Who is not known is charged.
    const made = []
    for (let n = 0; n < 3; n++) {
      made.push(
        (await call(door, 'GET', '/limits', undefined, {
          'x-api-key': `hdl_us_0123456789abcde${n}_${'x'.repeat(43)}`,
        })).status,
      )
    }
    expect(made).toEqual([401, 401, 429])
  })

  it('of a user are its own', async () => {
    const { door } = await guarded({ 'default-user': 5 })
    const headers = (sub: string) => ({ authorization: `Bearer ${token({ claims: { sub } })}` })
    await call(door, 'POST', '/threads/search', {}, headers('ann'))
    const leftOf = async (sub: string) => {
      const report = reportIn(await call(door, 'GET', '/limits', undefined, headers(sub)))
      return rowIn(report, 'default-user')?.['remaining']
    }
    expect([await leftOf('ann'), await leftOf('bob')]).toEqual([4, 5])
  })

  it('count refusals', async () => {
    const { as } = await guarded({ 'default-key': 1 })
    const { send, id } = await as('acme')
    for (let n = 0; n < 4; n++) await send('POST', '/threads/search', {})
    expect(rowIn(reportIn(await send('GET', '/limits')), 'default-key'))
      .toMatchObject({ remaining: 0, refused: 3 })
    const [admin, other] = [await as('acme', 'admin'), await as('other', 'admin')]
    expect(rowIn(reportIn(await admin.send('GET', `/limits?key=${id}`)), 'default-key'))
      .toMatchObject({ remaining: 0, refused: 3 })
    expect((await as('acme', 'admin').then(({ send: ask }) => ask('GET', '/limits/refused'))).json)
      .toEqual({
        callers: [{ key_id: id, row: 'default-key', refused: 3, last: expect.any(String) }],
      })
    expect((await other.send('GET', '/limits/refused')).json).toEqual({ callers: [] })
  })
})

describe('without keys', () => {
  it('callers see the limits of their address, and everybody who was refused', async () => {
    const { options } = limits({ 'catch-all': 1 })
    const door = await openDoor(options)
    const statuses = []
    for (let n = 0; n < 2; n++) statuses.push((await call(door, 'GET', '/openapi.json')).status)
    expect(statuses).toEqual([200, 429])
    const report = reportIn(await call(door, 'GET', '/limits'))
    expect(report.rows.map(({ id }) => id)).toEqual(['edge', 'beacon', 'public-download',
      'catch-all'])
    expect(rowIn(report, 'catch-all')).toMatchObject({ remaining: 0 })
    expect((await call(door, 'GET', '/limits/refused', undefined, { 'x-api-key': 'mine' })).json)
      .toMatchObject({ callers: [{ address: '127.0.0.1', row: 'catch-all', refused: 1 }] })
  })

  it('and without limits there are quotas only', async () => {
    const use = { threads: 7, bytes: 100, runs: 0, delayedRuns: 0, crons: 0 }
    const door = await openDoor({
      quotas: { limits: { ...unlimited, threads: 10 }, use: async () => use },
      platform: {
        modelQuota: { useOf: async () => [{ name: 'model_calls', limit: 5, used: 3 }] },
      } as unknown as Platform,
    })
    const report = reportIn(await call(door, 'GET', '/limits'))
    expect([report.rows, report.enabled]).toEqual([[], false])
    expect(report.quotas).toContainEqual({ name: 'threads', words: 'Threads', limit: 10, used: 7 })
    expect(report.quotas).toContainEqual({ name: 'model_calls', words: 'Model calls', limit: 5,
      used: 3 })
    expect(report.quotas).toContainEqual({ name: 'stored_bytes', words: 'Stored bytes', limit: null,
      used: 100 })
    expect((await call(door, 'GET', '/limits/refused')).json).toEqual({ callers: [] })
  })
})

it('Each limit has words of its own.', () => {
  for (const { name } of rateLimits('us'))
    expect([name, limitWords(name)]).not.toEqual([name, name])
})

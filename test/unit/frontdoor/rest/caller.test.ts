/** Who the caller is, and what the server offers: the first things that a client asks. */

import { describe, expect, it } from 'vitest'

import { keyAdmin, TenantKeys } from '../../../../src/access/index.ts'
import { addressReader } from '../../../../src/frontdoor/index.ts'
import type { FrontDoorOptions } from '../../../../src/frontdoor/index.ts'
import { ipRange } from '../../../../src/settings/ip-address.ts'
import { virtualEnv } from '../../../support/env.ts'
import { MemoryKeys } from '../../../support/memory-keys.ts'
import { issuer, keySetFile, token } from '../../../support/sessions.ts'
import { call, openDoor } from '../open-front-door.ts'

const region = { name: 'us', ingress: [], egress: [] }

async function guarded(options: Partial<FrontDoorOptions> = {}) {
  const table = new MemoryKeys()
  const parts = { table, region: 'us', env: virtualEnv() }
  const door = await openDoor({ region, tenantKeys: new TenantKeys(parts),
    auth: { keys: table, region: 'us', regionUrls: { us: '', eu: 'https://eu.example' },
      sessions: { issuer, audience: '', keys: keySetFile() }, isFromTrustedProxy: () => true,
      addressOf: addressReader([ipRange('127.0.0.1')!]) }, ...options })
  const make = () =>
    keyAdmin(parts).create({ tenant: 'acme', role: 'reader', name: '', expiresInMs: 60_000 })
  const who = (headers: Record<string, string>, path = '/auth') =>
    call(door, 'GET', path, undefined, headers)
  return { door, make, who }
}

const graphs = [{ graph_id: 'agent' }, { graph_id: 'other' }]

describe('the caller', () => {
  it('with a key is its tenant, its role and its key', async () => {
    const { make, who } = await guarded()
    const { key, id } = await make()
    for (const path of ['/auth', '/api/v1/auth', '/auth/', '/api/auth']) {
      expect((await who({ 'x-api-key': key }, path)).json).toEqual({ tenant: 'acme', role: 'reader',
        user: null, key_id: id, region: 'us', method: 'key',
        expires_at: '2026-01-01T00:01:00.000+00:00', graphs, // As clients of traces read it.
        org_config: { org_id: expect.any(String), tenant_id: expect.any(String),
          display_name: 'acme' } })
    }
  })

  it('with a token is its user, until the token ends', async () => {
    const { who } = await guarded()
    const { json } = await who({ authorization: `Bearer ${token({ claims: { role: 'admin' } })}` })
    expect(json).toMatchObject({ tenant: 'acme', role: 'admin', user: 'ann', key_id: null,
      method: 'session' })
    expect(Math.abs(Date.parse(String(json['expires_at'])) - Date.now() - 600_000))
      .toBeLessThan(60_000)
  })

  it('of a trusted proxy is its user, without an end', async () => {
    const { who } = await guarded()
    expect((await who({ 'x-user-id': 'bob', 'x-tenant-id': 'other' })).json)
      .toMatchObject({ tenant: 'other', role: 'developer', user: 'bob', expires_at: null,
        method: 'session' })
  })

  it('without keys is everybody', async () => {
    const { json } = await call(await openDoor(), 'GET', '/auth')
    expect(json).toMatchObject({ tenant: 'local', role: 'admin', user: null, key_id: null,
      region: null, expires_at: null, method: 'none' })
    expect(json).not.toHaveProperty('graphs')
  })

  it('of another region learns where to go, and one with a bad key nothing', async () => {
    const { make, who } = await guarded()
    const { key } = await make()
    expect(await who({ 'x-api-key': key.replace('hdl_us', 'hdl_eu') }))
      .toMatchObject({ status: 403, json: { url: 'https://eu.example' } })
    expect((await who({ 'x-api-key': `${key}x` })).status).toBe(401)
  })
})

describe('the description of a server', () => {
  const features = { studio: false, traces: false, crons: true, store: true, cluster: false }

  it('says what credentials it takes, and nothing of its graphs', async () => {
    const { door } = await guarded()
    const { json } = await call(door, 'GET', '/info')
    expect(json).toMatchObject({ auth: 'keys+sessions', features: { ...features, keys: true } })
    expect(json).not.toHaveProperty('graphs')
  })

  it('without keys says which graphs there are, and why one cannot be loaded', async () => {
    const door = await openDoor()
    expect((await call(door, 'GET', '/info')).json).toMatchObject({ auth: 'none', graphs,
      features: { ...features, keys: false } })
    const failure = 'Graph "a" could not be loaded (src/a.ts:3:7): no such thing'
    const broken = { describe: () => undefined,
      graphs: () => [{ graphId: 'a', description: null, failed: true, failure }] }
    const other = await openDoor({ graphs: broken as unknown as FrontDoorOptions['graphs'] })
    expect((await call(other, 'GET', '/info')).json).toMatchObject({
      graphs: [{ graph_id: 'a', error: expect.stringContaining('src/a.ts:3:7') }],
    })
  })
})

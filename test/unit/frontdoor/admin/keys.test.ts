/** API keys over HTTP: bound to a tenant, for admins only, and never in the log. */

import { describe, expect, it } from 'vitest'

import { keyAdmin, TenantKeys } from '../../../../src/access/index.ts'
import type { CallerRole } from '../../../../src/access/index.ts'
import { addressReader } from '../../../../src/frontdoor/index.ts'
import { virtualEnv } from '../../../support/env.ts'
import { MemoryKeys } from '../../../support/memory-keys.ts'
import { issuer, keySetFile, token } from '../../../support/sessions.ts'
import { call, openDoor } from '../open-front-door.ts'
import type { Answer } from '../open-front-door.ts'

/** A door, and callers of two tenants. Keys are made in the time of the test. */
async function opened() {
  const table = new MemoryKeys()
  const env = virtualEnv()
  const parts = { table, region: 'us', env }
  const door = await openDoor({ tenantKeys: new TenantKeys(parts),
    auth: { keys: table, region: 'us', regionUrls: { us: '' }, addressOf: addressReader([]),
      sessions: { issuer, audience: '', keys: keySetFile() } } })
  const admin = keyAdmin(parts)
  const as = async (tenant: string, role: CallerRole = 'admin') => {
    const { key } = await admin.create({ tenant, role, name: role, expiresInMs: null })
    return (method: string, path: string, body?: unknown) =>
      call(door, method, path, body, { 'x-api-key': key })
  }
  return { door, table, env, as }
}

const rowsIn = ({ json }: Answer) => json as unknown as readonly Record<string, unknown>[]

describe('a key that an admin creates', () => {
  it('works, is shown once, and is listed without its text', async () => {
    const { door, as } = await opened()
    const send = await as('acme')
    const made = await send('POST', '/keys', { name: 'shop', expires_in_days: 30 })
    expect(made.status).toBe(200)
    expect(made.headers.get('cache-control')).toBe('no-store')
    const { key, ...row } = made.json
    expect(row).toEqual({ id: expect.any(String), name: 'shop', role: 'developer', tenant: 'acme',
      deployment: null, created_at: expect.any(String), last_used_at: null,
      expires_at: expect.any(String), revoked_at: null })
    expect(Date.parse(String(row['expires_at'])) - Date.parse(String(row['created_at'])))
      .toBe(30 * 86_400_000)
    const search = await call(door, 'POST', '/threads/search', {}, { 'x-api-key': String(key) })
    expect(search.status).toBe(200)
    const listed = await send('GET', '/keys')
    expect(rowsIn(listed)).toContainEqual(expect.objectContaining({ id: row['id'] }))
    expect(listed.text).not.toContain(String(key))
    expect(listed.text).not.toMatch(/hash|[0-9a-f]{64}/)
  })

  it('ends when it is revoked', async () => {
    const { as, table } = await opened()
    const send = await as('acme')
    const { json: { id } } = await send('POST', '/keys', { name: '', role: 'reader' })
    expect((await send('DELETE', `/keys/${id}`)).status).toBe(204)
    expect(table.rows.get(String(id))?.revokedAtMs).not.toBeNull()
    const row = rowsIn(await send('GET', '/keys')).find((each) => each['id'] === id)
    expect(row?.['revoked_at']).toEqual(expect.any(String))
  })

  it('has one end, and it is in the future', async () => {
    const send = await (await opened()).as('acme')
    const both = { name: '', expires_in_days: 1, expires_at: '2099-01-01T00:00:00Z' }
    for (const body of [both, { name: '', expires_at: '1960-01-01T00:00:00Z' }, { name: '',
      expires_in_days: 0 }, { name: 'x'.repeat(101) }, { name: '', role: 'owner' }, {}]) {
      expect([body, (await send('POST', '/keys', body)).status]).toEqual([body, 422])
    }
    const late = await send('POST', '/keys', { name: '', expires_at: '2099-01-01T00:00:00Z' })
    expect(late.json['expires_at']).toBe('2099-01-01T00:00:00.000+00:00')
  })
})

describe('the keys of a tenant', () => {
  it('are managed with a token that says so', async () => {
    const { door } = await opened()
    const statusOf = async (role: CallerRole) =>
      (await call(door, 'POST', '/keys', { name: '' }, {
        authorization: `Bearer ${token({ claims: { role } })}`,
      })).status
    expect([await statusOf('admin'), await statusOf('developer')]).toEqual([200, 403])
  })

  it('are bounded in number', async () => {
    const { as, table } = await opened()
    const send = await as('acme')
    const [row] = table.rows.values()
    for (let n = 0; n < 999; n++) table.rows.set(`k${n}`, { ...row!, id: `k${n}` })
    expect(await send('POST', '/keys', { name: '' }))
      .toMatchObject({ status: 507, json: { code: 'out_of_quota' } })
    table.rows.set('k0', { ...row!, id: 'k0', revokedAtMs: 1 })
    expect((await send('POST', '/keys', { name: '' })).status).toBe(200)
    expect((await (await as('other'))('POST', '/keys', { name: '' })).status).toBe(200)
  })

  it('do not exist on a server without keys', async () => {
    const door = await openDoor()
    for (const [method, path] of [['GET', '/keys'], ['DELETE', '/keys/x']] as const) {
      expect(await call(door, method, path))
        .toMatchObject({ status: 404, json: { detail: expect.stringContaining('--auth keys') } })
    }
  })
})

it('The log of a server has no text of a key.', async () => {
  const { door, as } = await opened()
  const send = await as('acme')
  const made = await send('POST', '/keys', { name: 'shop' })
  const key = String(made.json['key'])
  await call(door, 'GET', '/threads/nothing', undefined, { 'x-api-key': key })
  await call(door, 'DELETE', `/keys/${key}`, undefined, { 'x-api-key': key })
  await send('DELETE', `/keys/${key}`)
  expect(JSON.stringify(door.env.lines)).not.toContain(key.slice(-43))
})

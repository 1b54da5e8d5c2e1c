/** What the keys of runs may call: data as the user of the run, and little of the platform. */

import { describe, expect, it } from 'vitest'

import { keyAdmin, RunKeys } from '../../../../src/access/index.ts'
import { operations } from '../../../../src/api/index.ts'
import type { Operation } from '../../../../src/api/index.ts'
import { addressReader } from '../../../../src/frontdoor/index.ts'
import type { FrontDoorOptions } from '../../../../src/frontdoor/index.ts'
import { mayRunCall } from '../../../../src/frontdoor/http/run-powers.ts'
import { loginOver } from '../../../../src/graph/app-thread/login-handlers.ts'
import type { AppUser } from '../../../../src/graph/index.ts'
import { virtualEnv } from '../../../support/env.ts'
import { memoryDeployments } from '../../../support/memory-deployments.ts'
import { MemoryKeys } from '../../../support/memory-keys.ts'
import { imports, useApp } from '../custom/app-door.ts'
import { activeIn } from '../mount/deployment-door.ts'
import { call } from '../open-front-door.ts'
import { eachTheirOwn, giveAnn, openLoginDoor, threadId } from './login-door.ts'

/** No request of these tests reaches the platform behind its routes. */
const unreachable: unknown = new Proxy(() => undefined, { get: () => unreachable })

const user = (identity: string): AppUser => ({ identity, permissions: [], display_name: identity,
  is_authenticated: true })

async function openWithRunKeys(options: Partial<FrontDoorOptions> = {}) {
  const [runKeys, table] = [new RunKeys<AppUser>(virtualEnv()), new MemoryKeys()]
  const opened = await openLoginDoor(undefined, { runKeys, platform: unreachable as never,
    auth: { keys: table, runKeys, region: 'us', regionUrls: { us: '' }, sessions: null,
      addressOf: addressReader([]) }, ...options })
  const send = async (key: string, method: string, path: string, body?: unknown) =>
    await call(opened.door, method, path, body, { 'x-api-key': key })
  return { opened, door: opened.door, runKeys, table, send }
}

/** A path of an operation, with texts in place of its parameters. */
const pathOf = ({ path }: Operation) =>
  path.replaceAll(/:\w+/g, '0198a2f0-0000-7000-8000-000000000009').replace('*', 'x')

describe('the key of a run that a user started', () => {
  it('reads and changes data as that user', async () => {
    const { opened, send, runKeys } = await openWithRunKeys()
    await giveAnn(opened)
    const [ofAnn, ofBob] = [runKeys.issue('local', user('ann')),
      runKeys.issue('local', user('bob'))]
    expect((await send(ofAnn, 'GET', `/threads/${threadId}`)).status).toBe(200)
    expect((await send(ofBob, 'GET', `/threads/${threadId}`)).status).toBe(404)
    expect((await send(ofBob, 'POST', '/threads', {})).json['metadata']).toEqual({ owner: 'bob' })
  })

  it('is rejected with 403 by operations of each resource that no login guards', async () => {
    const { send, runKeys } = await openWithRunKeys()
    const key = runKeys.issue('local', user('bob'))
    const others = operations.filter(({ operation: { asks, access } }) =>
      access !== 'public' && (asks === undefined || access === 'admin')
    )
    // One for each resource, method and access: all of them would take too long.
    const picked = new Map(
      others.map(({ resource, operation }) =>
        [`${resource} ${operation.method} ${operation.access}`, operation] as const
      ),
    )
    expect(picked.size).toBeGreaterThan(70)
    const allowed: string[] = []
    for (const operation of picked.values()) {
      const { method } = operation
      const { status } = await send(key, method, pathOf(operation),
        method === 'GET' ? undefined : {})
      if (status !== 403 && status !== 404) allowed.push(`${method} ${operation.path} ${status}`)
    }
    expect(allowed).toEqual([])
    const { status, json } = await send(key, 'POST', '/api/v1/runs/query', {})
    expect([status, json['detail']]).toEqual([403, expect.stringContaining('its own project')])
  })

  it('reaches no other project that has a login', async () => {
    const deployments = memoryDeployments()
    const view = (namespace: string) => ({ ...deployments.serving.view(namespace)!,
      settings: { ...deployments.serving.view(namespace)?.settings,
        auth: { path: './a.ts:auth' } } })
    const login = loginOver(eachTheirOwn(), () => {})
    const { send, runKeys, door, table } = await openWithRunKeys({
      deployments: { ...deployments, serving: { ...deployments.serving, view } as never },
      deployed: { open: async () => {}, view, onChange: () => () => {}, ended: () => {},
        hostOf: () => ({ openApp: async () => ({ app: { login }, leave: () => {} }) }) } as never,
    })
    await activeIn(deployments, 'shop', { tenant: 'local' })
    const search = async (key: string) =>
      (await send(key, 'POST', '/d/shop/threads/search', {})).status
    expect(await search(runKeys.issue('local@shop', user('bob')))).toBe(200)
    expect(await search(runKeys.issue('local', user('bob')))).toBe(403)
    expect(await search(runKeys.issue('local'))).toBe(403)
    expect(await search(runKeys.issue('local@shop'))).toBe(200)
    expect(door.threads.given('search')).toMatchObject({ tenant: 'local@shop' })
    const { key } = await keyAdmin({ table, region: 'us', env: virtualEnv() }).create({
      tenant: 'local',
      role: 'developer',
      name: '',
      deployment: null,
      expiresInMs: null,
    })
    expect(await search(key)).toBe(200)
  })

  it('is rejected where the project has no login any more', async () => {
    const { send, runKeys } = await openWithRunKeys({ projectAuth: () => undefined })
    expect((await send(runKeys.issue('local', user('bob')), 'POST', '/threads/search', {})).status)
      .toBe(403)
    expect((await send(runKeys.issue('local'), 'POST', '/threads/search', {})).status).toBe(200)
  })
})

describe('the key of a run without a user', () => {
  it('may call data, and a list of operations of the platform', () => {
    const changes = operations.map(({ operation }) => operation)
      .filter(({ asks, access }) => asks === undefined && access !== 'read' && access !== 'shown')
      .filter(mayRunCall).map(({ method, path }) => `${method} ${path.replace('/api/v1', '')}`)
    expect(changes.toSorted()).toEqual(['GET /auth', 'GET /limits', 'PATCH /runs/:id',
      'POST /feedback', 'POST /feedback/eager', 'POST /feedback/tokens', 'POST /otel/v1/logs',
      'POST /otel/v1/metrics', 'POST /otel/v1/traces', 'POST /runs', 'POST /runs/batch',
      'POST /runs/multipart'])
    const ofData = operations.filter(({ operation }) =>
      operation.asks !== undefined && operation.access !== 'admin'
    )
    expect(ofData.filter(({ operation }) => !mayRunCall(operation))).toEqual([])
  })

  it('is rejected with 403 by the other operations', async () => {
    const { send, runKeys } = await openWithRunKeys({ projectAuth: () => undefined })
    const key = runKeys.issue('local')
    for (const [method, path] of [['POST', '/api/v1/runs/query'], ['POST', '/api/v1/runs/rules'], [
      'DELETE',
      '/api/v1/sessions/0198a2f0-0000-7000-8000-000000000009',
    ], ['PUT', '/api/v1/runs/0198a2f0-0000-7000-8000-000000000009/share'], ['GET', '/keys'], ['GET',
      `/threads/${threadId}/place`]] as const) {
      expect([path, (await send(key, method, path, method === 'GET' ? undefined : {})).status])
        .toEqual([path, 403])
    }
    expect((await send(key, 'GET', '/nowhere')).status).toBe(404)
    expect((await send(key, 'POST', '/frontdoor.v1.ThreadService/CountThreads', {})).status).toBe(
      200,
    )
  })
})

const app = useApp({ app: `${imports}
export const app = new Hono()
app.get('/own', async (c) => {
  const own = async (path, init) =>
    (await fetch('http://localhost:' + process.env.PORT + path, init)).status
  const post = { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } }
  return c.json([await own('/threads/search', post), await own('/api/v1/runs/query', post),
    await own('/api/v1/runs/rules', post), await own('/keys')])
})` })

describe('the key of a request that an app handles', () => {
  const openApp = async () => {
    const login = loginOver(eachTheirOwn(), () => {})
    const host = app.host()
    const opened = await openWithRunKeys({ projectHttp: () => ({ enable_custom_route_auth: true }),
      graphs: { ...host, app: () => ({ ...host.app(), login }) } })
    app.servedAt(opened.door.url)
    return opened
  }

  it('does not open the platform to a user of the login', async () => {
    const { opened } = await openApp()
    expect((await opened.as('bob', 'GET', '/own')).text).toBe('[200,401,401,401]')
  })

  it('does no more than the key of the run that called the app', async () => {
    const { send, runKeys } = await openApp()
    expect((await send(runKeys.issue('local', user('bob')), 'GET', '/own')).text)
      .toBe('[200,403,403,403]')
    expect((await send(runKeys.issue('local'), 'GET', '/own')).text).toBe('[200,403,403,403]')
  })
})

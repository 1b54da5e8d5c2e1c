/** Settings below `http` of a project, on the server's own routes and on those of deployments. */

import { describe, expect, it } from 'vitest'

import { policyOver, usualPolicy } from '../../../../src/frontdoor/rest/cors-policy.ts'
import { usualSettings } from '../../../../src/graph/index.ts'
import type { HttpSettings } from '../../../../src/graph/index.ts'
import { isOfProject } from '../../../../src/frontdoor/mount/index.ts'
import { belowMount } from '../../../../src/frontdoor/mount/mount-prefix.ts'
import { isDataRoute } from '../../../../src/frontdoor/mount/data-routes.ts'
import { chosen } from '../../../../src/frontdoor/schema/chosen-headers.ts'
import type { StartRun } from '../../../../src/thread/index.ts'
import { memoryDeployments } from '../../../support/memory-deployments.ts'
import { allRoutes } from '../all-routes.ts'
import { call, plainStatus } from '../open-front-door.ts'
import { activeIn, openKeyed } from './deployment-door.ts'

/** A door whose own project has these settings, and whose deployment `shop` has others. */
async function openWith(own: HttpSettings, shop: HttpSettings = {}) {
  const deployments = memoryDeployments()
  const view = (namespace: string) => ({ ...deployments.serving.view(namespace)!,
    settings: { ...usualSettings, http: shop } })
  const opened = await openKeyed({ serving: { ...deployments.serving, view } }, {
    projectHttp: () => own,
  })
  await activeIn(deployments, 'shop', { hosts: ['shop.example'] })
  return { ...opened, acme: await opened.as('acme') }
}

const page = 'https://app.example'

describe('http.cors', () => {
  it('lets in the pages that it names, and no page of this machine any more', async () => {
    const { door } = await openWith({
      cors: { allow_origins: [page], allow_credentials: true, allow_methods: ['get', 'POST'],
        allow_headers: ['X-Own'], expose_headers: ['X-Seen'], max_age: 7 },
    })
    const ask = (origin: string, path = '/ok', more = {}) =>
      call(door, 'GET', path, undefined, { origin, ...more })
    const answer = await ask(page)
    expect([answer.status, answer.headers.get('access-control-allow-origin'),
      answer.headers.get('access-control-allow-credentials')]).toEqual([200, page, 'true'])
    const exposed = answer.headers.get('access-control-expose-headers')!.split(', ')
    expect(exposed).toEqual(
      expect.arrayContaining(['Content-Location', 'Location', 'X-Pagination-Total',
        'X-Pagination-Next', 'X-Seen']),
    )
    for (const origin of ['http://localhost:3000', 'https://app.example.evil']) {
      expect((await ask(origin)).status).toBe(403)
    }
    const preflight = await call(door, 'OPTIONS', '/threads', undefined, { origin: page,
      'access-control-request-method': 'POST', 'access-control-request-private-network': 'true' })
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'access-control-allow-private-network': 'true',
      'access-control-max-age': '7',
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': expect.stringContaining('X-Own'),
    })
  })

  it('holds for a deployment, below its path and at its host name, and not beside it', async () => {
    const { door } = await openWith({}, { cors: { allow_origin_regex: 'https://.*\\.example' } })
    const statusOf = async (path: string, headers = {}) =>
      (await call(door, 'GET', path, undefined, { origin: page, ...headers })).status
    expect(await statusOf('/d/shop/ok')).toBe(200)
    expect(await statusOf('/ok')).toBe(403)
    expect(await statusOf('/d/shop/ok', { origin: 'https://app.example.evil' })).toBe(403)
  })

  it('opens nothing of the operator', async () => {
    const { door } = await openWith({ cors: { allow_origins: ['*'] } })
    const statusOf = async (path: string) =>
      (await call(door, 'GET', path, undefined, { origin: page })).status
    expect(await statusOf('/info')).toBe(200)
    for (const path of ['/control/v1/deployments', '/internal/cluster']) {
      expect([path, await statusOf(path)]).toEqual([path, 403])
    }
    const { routes } = await allRoutes()
    const open = routes.filter(({ url, method }) =>
      method !== 'OPTIONS' && isOfProject({ method: 'GET', routeOptions: { url } } as never)
    )
    const others = open.map(({ url }) => url)
      .filter((url) => !isDataRoute(url) || url.startsWith('/api/'))
    expect([...new Set(others)]).toEqual([])
  })

  it('is tried on whole origins, in linear time, and on no long one', () => {
    const over = (allow_origin_regex: string) =>
      policyOver(usualPolicy(undefined), { allow_origin_regex })
    expect(over('https://(a|b)\\.example').mayCall('https://b.example')).toBe(true)
    expect(over('https://(a|b)\\.example').mayCall('https://b.example.evil')).toBe(false)
    const began = performance.now()
    expect(over('^(a+)+$').mayCall(`${'a'.repeat(2_000)}!`)).toBe(false)
    expect(performance.now() - began).toBeLessThan(100)
    expect(over('a*').mayCall('a'.repeat(2_049))).toBe(false)
    // A member of another version may have kept what this one cannot read.
    expect(over('(').mayCall('(')).toBe(false)
    const named = usualPolicy([page])
    expect(policyOver(named, { allow_origins: ['https://b.example'] }).mayCall(page)).toBe(true)
    expect(policyOver(usualPolicy(undefined), { max_age: 1 }).mayCall('http://localhost')).toBe(
      true,
    )
  })
})

describe('http.mount_prefix', () => {
  it('is a second address of the routes, which no Location has', async () => {
    const { door, acme } = await openWith({ mount_prefix: '/agents' }, { mount_prefix: '/api' })
    for (const path of ['/agents/ok', '/ok', '/agents/ok?check_db=1', '/d/shop/api/ok',
      '/d/shop/ok', '/d/shop/api/d/shop/ok']) {
      expect([path, (await call(door, 'GET', path)).status]).toEqual([path, 200])
    }
    for (const path of ['/agentsok', '/api/ok', '/d/shop/agents/ok']) {
      expect([path, (await acme('GET', path)).status]).toEqual([path, 404])
    }
    const made = await acme('POST', '/agents/runs', { assistant_id: 'agent' })
    expect([made.status, made.headers.get('content-location')])
      .toEqual([200, expect.stringMatching(/^\/runs\//)])
    // What the platform has stays where it is.
    expect(
      belowMount({ name: 'shop', prefix: '/d/shop', rest: '/api/v1/sessions' }, {
        mount_prefix: '/api',
      }),
    ).toBe('/api/v1/sessions')
  })

  it('holds at the host name of a deployment', async () => {
    const { door } = await openWith({}, { mount_prefix: '/agents' })
    const port = new URL(door.url).port
    expect(await plainStatus(door.url, '/agents/ok', { host: `shop.example:${port}` })).toBe(200)
    expect(await plainStatus(door.url, '/other/ok', { host: `shop.example:${port}` })).toBe(401)
  })
})

describe('headers', () => {
  it('are chosen by names and patterns, and what is excluded is never included', () => {
    const fits = (name: string, includes: string[], excludes: string[] = []) =>
      chosen(name, { includes, excludes }, () => false)
    expect(fits('x-colour', ['x-*'])).toBe(true)
    expect(fits('x-colour', ['x-*'], ['*lour'])).toBe(false)
    expect(fits('x-a-b-a', ['x-*a*a'])).toBe(true)
    expect(fits('x-a', ['x-*a*a'])).toBe(false)
    expect(fits('x-ab', ['x-*b*b'])).toBe(false)
    expect(fits('a', ['aa*', '*aa', 'b'])).toBe(false)
    expect(chosen('x', { excludes: ['y'] }, () => true)).toBe(true)
  })

  it('of a request that a run sees are those of configurable_headers, and no secret', async () => {
    const { door, acme } = await openWith({
      configurable_headers: { includes: ['*'], excludes: ['x-hush'] },
    })
    await acme('POST', '/runs', { assistant_id: 'agent' }, { 'x-user-id': 'u', 'x-hush': 'h',
      cookie: 'c=1', authorization: 'Basic b', langgraph_auth_user_id: 'evil' })
    const { plan: { headers } } = door.threads.given('startRun') as StartRun
    expect(headers).toMatchObject({ 'x-user-id': 'u' })
    for (const name of ['x-hush', 'cookie', 'authorization', 'x-api-key',
      'langgraph_auth_user_id']) {
      expect(headers).not.toHaveProperty(name)
    }
  })

  it('of a request are in the log as logging_headers says, and no secret', async () => {
    const { door, acme } = await openWith({ logging_headers: { includes: ['x-*', 'cookie'] } })
    await acme('GET', '/info', undefined, { 'x-colour': 'green', cookie: 'c=hush',
      'x-session-id': 'hush', 'x-note': 'hdl_us_0123456789abcdef_hush', 'x-long': 'l'.repeat(999) })
    await expect.poll(() =>
      door.env.lines.map(({ details }) => details?.['headers'])
        .find((each) => each !== undefined)
    )
      .toEqual({ 'x-colour': 'green', 'x-long': 'l'.repeat(256) })
    expect(JSON.stringify(door.env.lines)).not.toContain('hush')
  })
})

/** The data of deployments: whose they are, in which namespace, and what is refused. */

import { describe, expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { addressReader, limitGate } from '../../../../src/frontdoor/index.ts'
import { noView } from '../../../../src/graph/index.ts'
import { noUse, rateLimits, unlimited } from '../../../../src/limits/index.ts'

import { plainStatus, call, openDoor } from '../open-front-door.ts'
import { memoryDeployments } from '../../../support/memory-deployments.ts'
import { activeIn, openKeyed } from './deployment-door.ts'

const threadId = '0a0a0a0a-0000-4000-8000-000000000001'

describe('a request below /d/<name>', () => {
  it('reads and writes in the namespace of its tenant', async () => {
    const { door, deployments, as } = await openKeyed()
    await activeIn(deployments)
    const send = await as('acme')
    expect((await send('POST', '/d/shop/threads', { thread_id: threadId })).status).toBe(200)
    expect(door.threads.views.get(threadId)?.row.tenant).toBe('acme@shop')
    await send('POST', '/d/shop/threads/search', {})
    expect(door.threads.given('search')).toMatchObject({ tenant: 'acme@shop' })
    await send('POST', '/threads/search', {})
    expect(door.threads.given('search')).toMatchObject({ tenant: 'acme' })
  })

  it('of another tenant finds nothing, whatever its role, unless all may call', async () => {
    const { door, deployments, as } = await openKeyed()
    await activeIn(deployments)
    await activeIn(deployments, 'open', { access: 'any' })
    for (const role of ['admin', 'developer', 'reader', 'deployer'] as const) {
      const other = await as('other', role)
      // One that exists is answered in the same words as one that does not.
      for (const name of ['shop', 'nothing']) {
        const answer = await other('POST', `/d/${name}/threads/search`, {})
        expect([role, answer.status, answer.json['message']])
          .toEqual([role, 404, `There is no deployment ${name}.`])
      }
    }
    const send = await as('other')
    expect((await send('POST', '/d/open/threads/search', {})).status).toBe(200)
    expect(door.threads.given('search')).toMatchObject({ tenant: 'other@open' })
    expect((await call(door, 'POST', '/d/open/threads/search', {})).status).toBe(401)
    // What is not active is the owner's alone.
    const options = ['POST', '/d/open/threads/search', {}, { 'x-heddle-revision': 'r1' }] as const
    expect([(await send(...options)).status, (await (await as('acme'))(...options)).status])
      .toEqual([403, 200])
  })

  it.each([
    ['without a view', undefined],
    ['without its active revision', { ...noView, active: 'r1', lacksSettings: true }],
  ])('is rejected with 503 if the deployment is known %s', async (_, view) => {
    const twins = memoryDeployments()
    // Such a view has neither a login nor an app nor a disabled route.
    const { as } = await openKeyed({ serving: { ...twins.serving, view: () => view } })
    await activeIn(twins)
    expect((await (await as('acme'))('POST', '/d/shop/threads/search', {})).status).toBe(503)
  })

  it('is noted before it is served, for the tenant that calls', async () => {
    const noted: string[] = []
    const { deployments, as } = await openKeyed({ requested: async ({ name }, tenant) => {
      if (tenant === 'unlucky') throw new HeddleError('unavailable')
      noted.push(`${name} ${tenant}`)
    } })
    await activeIn(deployments, 'shop', { access: 'any' })
    for (const [tenant, status] of [['acme', 200], ['other', 200], ['unlucky', 503]] as const) {
      const send = await as(tenant)
      expect([tenant, (await send('POST', '/d/shop/threads', {})).status]).toEqual([tenant, status])
    }
    expect(noted).toEqual(['shop acme', 'shop other'])
  })

  it('for a new run is answered with the reason if it is known that none can be made', async () => {
    const failure = new HeddleError('graph_failed', 'The deployment shop cannot serve: No key.')
    const { deployments, as } = await openKeyed()
    deployments.serving.requireServes = async (name) => {
      if (name === 'shop') throw failure
    }
    await activeIn(deployments)
    const send = await as('acme')
    const run = { assistant_id: 'agent' }
    for (const path of ['/runs', '/runs/wait', '/runs/stream', `/threads/${threadId}/runs`]) {
      const { status, json } = await send('POST', `/d/shop${path}`, run)
      expect([path, status, json['message']]).toEqual([path, 422, failure.message])
    }
    // What is there can be read, and another revision may be tried.
    expect((await send('POST', '/d/shop/threads/search', {})).status).toBe(200)
    const asked = await send('POST', '/d/shop/runs/wait', run, { 'x-heddle-revision': 'r1' })
    expect(asked.json['message']).not.toBe(failure.message)
  })

  it('from a browser shows a person what the address is, without a key', async () => {
    const { door, deployments } = await openKeyed({ domain: 'agents.example.org' })
    await activeIn(deployments)
    for (const path of ['/d/shop', '/d/shop/']) {
      const page = await fetch(`${door.url}${path}`, { headers: { accept: 'text/html,*/*' } })
      expect([page.status, page.headers.get('content-type')])
        .toEqual([200, 'text/html; charset=utf-8'])
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(await page.text()).toMatch(/<h1>shop<\/h1>.*href="\/d\/shop\/docs"/s)
    }
    for (const [path, accept] of [['/d/shop', '*/*'], ['/d/none', 'text/html'], ['/d/%3Cb%3E',
      'text/html'], ['/', 'text/html']] as const) {
      const answer = await fetch(`${door.url}${path}`, { headers: { accept } })
      expect([path, answer.status, answer.headers.get('content-type')])
        .toEqual([path, 404, expect.stringContaining('json')])
    }
  })

  it('to a deployment that does not exist, or goes, finds nothing', async () => {
    const { deployments, as } = await openKeyed()
    await activeIn(deployments, 'gone', { removing: true })
    const send = await as('acme')
    for (const name of ['nothing', 'gone', 'SHOP', 'sh%6Fp', 'a%2Fb', '123', '-x']) {
      for (const path of ['/ok', '/info', '/threads/x']) {
        expect([name, (await send('GET', `/d/${name}${path}`)).status]).toEqual([name, 404])
      }
    }
  })

  it('to a paused one reads, and makes no run', async () => {
    const { door, deployments, as } = await openKeyed()
    await activeIn(deployments, 'shop', { paused: true })
    const send = await as('acme')
    expect((await send('POST', '/d/shop/threads/search', {})).status).toBe(200)
    const body = { assistant_id: 'agent', input: {} }
    for (const path of ['/runs', '/runs/wait', '/runs/stream', `/threads/${threadId}/runs`,
      '/runs/batch', '/frontdoor.v1.RunService/CreateRun']) {
      const { status } = await send('POST', `/d/shop${path}`,
        path === '/runs/batch' ? [body] : body)
      expect([path, status]).toEqual([path, path.startsWith('/front') ? 400 : 409])
    }
    const command = await send('POST', `/d/shop/threads/${threadId}/commands`, { id: 1,
      method: 'run.start', params: { assistant_id: 'agent', input: {} } })
    expect(command.text).toContain('paused')
    expect(door.threads.calls.filter(({ name }) => name === 'startRun')).toEqual([])
  })

  it('before anything is active says what to type; a revision can be tried', async () => {
    const { deployments, as } = await openKeyed()
    await deployments.records.create({ name: 'shop', tenant: 'acme' })
    const send = await as('acme')
    const answer = await send('POST', '/d/shop/threads/search', {})
    expect([answer.status, answer.json['code']]).toEqual([409, 'not_ready'])
    expect(answer.json['message']).toContain('heddle deploy shop')
    expect((await send('GET', '/d/shop/ok')).status).toBe(200)
    expect((await send('POST', '/d/shop/threads/search', {}, { 'x-heddle-revision': 'r1' })).status)
      .toBe(200)
  })

  it('reaches nothing of the server itself', async () => {
    const { deployments, as } = await openKeyed()
    await activeIn(deployments)
    const send = await as('acme', 'admin')
    for (const path of ['/keys', '/cluster', '/limits', '/limits/refused', '/studio/', '/metrics',
      '/internal/cluster', '/control/v1/deployments', `/threads/${threadId}/place`, '/d/shop2/ok',
      '/api/keys', '/']) {
      expect([path, (await send('GET', `/d/shop${path}`)).status]).toEqual([path, 404])
    }
    for (const path of ['/ok', '/info', '/docs/', '/openapi.json', '/auth']) {
      expect([path, (await send('GET', `/d/shop${path}`)).status]).toEqual([path, 200])
    }
  })

  it('shows the graphs of the deployment, and the tenant by its own name', async () => {
    const { deployments, as } = await openKeyed()
    await activeIn(deployments)
    const send = await as('acme')
    expect((await send('GET', '/d/shop/auth')).json)
      .toMatchObject({ tenant: 'acme', graphs: [{ graph_id: 'agent' }] })
    expect((await send('GET', '/d/shop/info')).json)
      .toMatchObject({ features: { studio: false, keys: false, cluster: false } })
  })

  it('has documentation whose paths are below the prefix', async () => {
    const { deployments, as } = await openKeyed()
    await activeIn(deployments)
    const send = await as('acme')
    for (const path of ['/openapi.json', '/docs/json']) {
      expect((await send('GET', `/d/shop${path}`)).json['servers']).toEqual([{ url: '/d/shop' }])
      expect((await send('GET', path)).json['servers']).toBeUndefined()
    }
    const page = await send('GET', '/d/shop/docs/')
    expect(page.status).toBe(200)
    expect(page.text).not.toMatch(/(?:href|src)="\/(?!d\/shop\/)/)
  })

  it('is answered with paths below the prefix', async () => {
    const { deployments, as } = await openKeyed()
    await activeIn(deployments)
    const send = await as('acme')
    await send('POST', '/d/shop/threads', { thread_id: threadId })
    const made = await send('POST', `/d/shop/threads/${threadId}/runs`, { assistant_id: 'agent' })
    expect(made.headers.get('content-location')).toMatch(/^\/d\/shop\/threads\/[^/]+\/runs\/[^/]+$/)
    const place = made.headers.get('content-location')!
    expect((await send('GET', place)).status).toBe(200)
    expect((await send('GET', `/d/shop${place}`)).status).toBe(200)
  })

  it('with no key is of the local tenant on a server without keys', async () => {
    const deployments = memoryDeployments()
    const made = await deployments.records.create({ name: 'shop', tenant: 'local' })
    await deployments.records.change(made, { active: 'r1' })
    const door = await openDoor({ deployments })
    expect((await call(door, 'POST', '/d/shop/threads/search', {})).status).toBe(200)
    expect(door.threads.given('search')).toMatchObject({ tenant: 'local@shop' })
  })

  it('does not exist on a server without deployments', async () => {
    const door = await openDoor()
    for (const path of ['/d/shop/ok', '/control/v1/deployments']) {
      expect((await call(door, 'GET', path)).status).toBe(404)
    }
  })
})

describe('a host name', () => {
  const host = (name: string) => ({ host: name })

  it('chooses its deployment, and so does a name below the domain', async () => {
    const { door, deployments, keyOf } = await openKeyed({ domain: 'agents.example.org' })
    await activeIn(deployments, 'shop', { hosts: ['shop.example.com'] })
    const key = await keyOf('acme')
    const status = (name: string, path: string) =>
      plainStatus(door.url, path, { ...host(name), 'x-api-key': key })
    for (const name of ['shop.example.com', 'SHOP.example.com:8443', 'shop.example.com.:8443',
      'shop.agents.example.org', 'shop.agents.example.org.']) {
      expect([name, await status(name, '/threads/x')]).toEqual([name, 422])
      expect([name, await status(name, '/keys')]).toEqual([name, 404])
      expect([name, await status(name, '/d/shop/ok')]).toEqual([name, 404])
    }
    for (const name of ['other.agents.example.org', 'a.shop.agents.example.org']) {
      expect([name, await status(name, '/ok')]).toEqual([name, 404])
    }
    expect(await status('agents.example.org', '/ok')).toBe(200)
  })

  it('that was forwarded counts only from a trusted proxy', async () => {
    for (const trusted of [false, true]) {
      const { door, deployments, keyOf } = await openKeyed({ isFromProxy: () => trusted })
      const key = await keyOf('acme')
      await activeIn(deployments, 'shop', { hosts: ['shop.example.com'] })
      const status = (forwarded: string) =>
        plainStatus(door.url, '/limits', { ...host('heddle.example.com'),
          'x-forwarded-host': forwarded, 'x-api-key': key })
      expect(await status('shop.example.com')).toBe(trusted ? 404 : 200)
      expect(await status('shop.example.com, other.example.com')).toBe(200)
    }
  })

  it('in a target does not choose: the header does', async () => {
    const { door, deployments } = await openKeyed()
    await activeIn(deployments, 'shop', { hosts: ['shop.example.com'] })
    expect(await plainStatus(door.url, 'http://shop.example.com/keys', host('x.example.com')))
      .toBe(401)
    const ofShop = host('shop.example.com')
    expect(await plainStatus(door.url, 'http://x.example.com/info', ofShop)).toBe(200)
    expect(await plainStatus(door.url, 'http://x.example.com/d/shop/info', ofShop)).toBe(404)
    expect(await plainStatus(door.url, 'http://x.example.com/d/shop/info')).toBe(200)
  })

  it('of a server without keys must still be one of its names', async () => {
    const deployments = memoryDeployments([], { domain: 'agents.example.org',
      allowedHosts: ['*.apps.example.org'] })
    const made = await deployments.records.create({ name: 'shop', tenant: 'local',
      hosts: ['shop.example.com'] })
    await deployments.records.change(made, { active: 'r1' })
    const door = await openDoor({ deployments })
    const status = (name: string) => plainStatus(door.url, '/ok', host(name))
    expect(await status('shop.example.com')).toBe(403)
    expect(await status('evil.example')).toBe(403)
    expect(await status('shop.agents.example.org')).toBe(200)
    expect(await status('x.apps.example.org')).toBe(200)
    const named = await openDoor({ deployments, allowHosts: ['shop.example.com'] })
    expect(await plainStatus(named.url, '/ok', host('shop.example.com'))).toBe(200)
  })
})

describe('a health check', () => {
  it('of a made-up deployment is charged: it may ask the store', async () => {
    const charged: string[] = []
    const charge = (limit: { readonly name: string }) => {
      charged.push(limit.name)
      return { admitted: true, remaining: 1, waitMs: 0 } as const
    }
    const limit = limitGate({ rows: rateLimits('us'), clients: { charge },
      addressOf: addressReader([]) })
    const { door, deployments } = await openKeyed({}, { limit })
    await activeIn(deployments)
    expect((await call(door, 'GET', '/ok')).status).toBe(200)
    expect(charged).toEqual([])
    expect((await call(door, 'GET', '/d/made-up/ok')).status).toBe(404)
    expect((await call(door, 'GET', '/d/shop/ok')).status).toBe(200)
    expect(charged).toEqual(['catch-all', 'catch-all'])
  })
})

describe('the quota of a tenant', () => {
  it('counts what it has in all deployments together', async () => {
    const asked: string[] = []
    const limits = { ...unlimited, threads: 5 }
    const use = async (namespace: string) => {
      asked.push(namespace)
      return { ...noUse, threads: 2 }
    }
    const { deployments, as } = await openKeyed({}, { quotas: { limits, use } })
    await activeIn(deployments)
    await activeIn(deployments, 'open', { access: 'any', tenant: 'other' })
    const send = await as('acme')
    // Two of its own project, two of `shop`, two of `open`.
    expect((await send('POST', '/d/shop/threads', {})).json['code']).toBe('out_of_quota')
    expect(asked).toEqual(['acme', 'acme@open', 'acme@shop'])
  })
})

describe('a key of one deployment', () => {
  it('reaches its data and its control, and nothing else', async () => {
    const { deployments, as } = await openKeyed()
    await activeIn(deployments)
    await activeIn(deployments, 'other')
    const send = await as('acme', 'admin', 'shop')
    const statuses = async (...paths: string[]) =>
      await Promise.all(paths.map(async (path) => (await send('GET', path)).status))
    const control = '/control/v1/deployments'
    expect(await statuses('/d/shop/auth', '/auth', `${control}/shop`, `${control}/shop/secrets`))
      .toEqual([200, 200, 200, 200])
    expect(await statuses('/keys', '/cluster', '/threads/x', '/store/items?key=a')).toEqual([403,
      403, 403, 403])
    expect(await statuses('/d/other/auth', `${control}/other`, `${control}/other/events`))
      .toEqual([404, 404, 404])
    expect((await send('POST', control, { name: 'new' })).status).toBe(403)
    const { deployments: rows } = (await send('GET', control)).json as {
      deployments: { name: string }[]
    }
    expect(rows.map(({ name }) => name)).toEqual(['shop'])
  })

  it('is made by an admin, and shown with its deployment', async () => {
    const { as } = await openKeyed()
    const send = await as('acme', 'admin')
    const made = await send('POST', '/keys', { name: 'ci', role: 'deployer', deployment: 'shop' })
    expect(made.json).toMatchObject({ role: 'deployer', deployment: 'shop', tenant: 'acme' })
    expect((await send('POST', '/keys', { name: 'ci', deployment: 'a b' })).status).toBe(422)
  })
})

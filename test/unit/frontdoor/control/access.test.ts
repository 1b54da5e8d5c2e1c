/** Who may use which route of the control API: every one that is described, by everyone. */

import { describe, expect, it } from 'vitest'

import { replayId } from '../../../support/memory-replays.ts'
import { call } from '../open-front-door.ts'
import type { Answer } from '../open-front-door.ts'
import { activeIn, aManifest, openKeyed } from '../mount/deployment-door.ts'
import type { Send } from '../mount/deployment-door.ts'
import { controlCases } from './control-cases.ts'

const routes = Object.keys(controlCases)
const { manifest, sha256 } = aManifest()

/** `shop` of acme, with a revision r1, and r2 that is active. */
async function opened() {
  const all = await openKeyed()
  const { records } = all.deployments
  const shop = await activeIn(all.deployments, 'shop', { active: 'r2' })
  for (const text of ['the files', 'more']) {
    await records.beginRevision(shop, { manifest: aManifest(text).manifest as never, message: '',
      by: 'test' })
  }
  return all
}

function sendCase(send: Send, operation: string): Promise<Answer> {
  const [method, path] = operation.split(' ') as [string, string]
  const { body, chunk, query = '' } = controlCases[operation]!
  const filled = path.replace('{deployment}', 'shop').replace('{revision}', 'r1')
    .replace('{replay}', replayId)
    .replace('{sha256}', sha256).replace('{name}', 'MODEL_KEY')
  return chunk === undefined
    ? send(method, filled + query, body)
    : send(method, filled, chunk.toString(), { 'content-type': 'application/octet-stream' })
}

const each = async <Result>(send: Send, result: (answer: Answer) => Result,
  names: readonly string[] = routes) => {
  const results: Record<string, Result> = {}
  for (const name of names) results[name] = result(await sendCase(send, name))
  return results
}

const allAre = <Result>(names: readonly string[], result: Result) =>
  Object.fromEntries(names.map((name) => [name, result]))

describe('the control API', () => {
  it('is tested route by route', async () => {
    const { door } = await opened()
    const { paths } = (await call(door, 'GET', '/openapi.json')).json as {
      paths: Record<string, Record<string, unknown>>
    }
    const described = Object.entries(paths).filter(([path]) =>
      /^\/control\/(?!hosted\/)/.test(path)
    )
      .flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`)
      )
    expect(described.toSorted()).toEqual(routes.toSorted())
    expect(manifest.graphs).toHaveLength(1)
  })

  it.each(['deployer', 'admin'] as const)('answers a %s of the owner', async (role) => {
    const { as } = await opened()
    const failed = await each(await as('acme', role), ({ status }) => status >= 300 && status)
    expect(failed).toEqual(allAre(routes, false))
  })

  it.each(['developer', 'reader'] as const)('refuses a %s of the owner', async (role) => {
    const { as, deployments } = await opened()
    const before = new Map(deployments.records.rows)
    expect(await each(await as('acme', role), ({ status, json }) => [status, json['error']]))
      .toEqual(allAre(routes, [403, 'forbidden']))
    expect(deployments.records.rows).toEqual(before)
  })

  it.each(['deployer', 'admin'] as const)('shows a %s of another tenant nothing', async (role) => {
    const { as, deployments } = await opened()
    // Who may call a deployment may not control it.
    await deployments.records.change(await deployments.records.get('shop'), { access: 'any' })
    const before = deployments.records.rows.get('shop')
    const send = await as('other', role)
    const others = routes.filter((name) => !controlCases[name]!.isOwn)
    expect(await each(send, ({ status, json }) => [status, json['message']], others))
      .toEqual(allAre(others, [404, 'There is no deployment shop.']))
    for (const name of routes.filter((name) => controlCases[name]!.isOwn)) {
      expect((await sendCase(send, name)).text).not.toContain('shop')
    }
    expect(deployments.records.rows.get('shop')).toBe(before)
    expect(deployments.secrets.values.size).toBe(0)
  })

  it('refuses callers without a key', async () => {
    const { door } = await opened()
    const nobody: Send = (...request) => call(door, ...request)
    expect(await each(nobody, ({ status }) => status)).toEqual(allAre(routes, 401))
  })

  it('is not below a deployment', async () => {
    const { as } = await opened()
    const admin = await as('acme', 'admin')
    const below: Send = (method, path, body, headers) =>
      admin(method, `/d/shop${path}`, body, headers)
    expect(await each(below, ({ status }) => status)).toEqual(allAre(routes, 404))
  })
})

describe('a deployer', () => {
  it('reads and changes no data, of the server or of a deployment', async () => {
    const { as } = await opened()
    const send = await as('acme', 'deployer')
    for (const prefix of ['', '/d/shop']) {
      for (const [method, path, body] of [['POST', '/threads', {}], ['POST', '/threads/search', {}],
        ['POST', '/runs/wait', { assistant_id: 'agent' }], ['GET', '/store/items?key=a'], ['POST',
        '/frontdoor.v1.ThreadService/GetThread', {}], ['GET', '/keys'], ['GET',
        '/cluster']] as const) {
        if (prefix !== '' && (path === '/keys' || path === '/cluster')) continue
        expect([path, (await send(method, prefix + path, body)).status]).toEqual([path, 403])
      }
      expect((await send('GET', `${prefix}/auth`)).json).toMatchObject({ role: 'deployer' })
    }
  })
})

/** Where tokens for tools and agents come from, at each address by which they are called. */

import { describe, expect, it } from 'vitest'

import { addressReader } from '../../../src/frontdoor/index.ts'
import type { FrontDoorOptions } from '../../../src/frontdoor/index.ts'
import { issuersIn } from '../../../src/frontdoor/login/index.ts'
import { calledPath } from '../../../src/frontdoor/mount/index.ts'
import { loginSecurityOf } from '../../../src/graph/app/login-security.ts'
import { usualSettings } from '../../../src/graph/index.ts'
import { memoryDeployments } from '../../support/memory-deployments.ts'
import { MemoryKeys } from '../../support/memory-keys.ts'
import { issuer, keySetFile } from '../../support/sessions.ts'
import { openLoginDoor } from './login/login-door.ts'
import { activeIn, openKeyed } from './mount/deployment-door.ts'
import { call, openDoor } from './open-front-door.ts'

const root = '/.well-known/oauth-protected-resource'
const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

/** A server whose users have tokens, with a deployment `shop`. Both have a prefix of their own. */
async function openWithTokens(options: Partial<FrontDoorOptions> = {}) {
  const deployments = memoryDeployments()
  const view = (namespace: string) => ({ ...deployments.serving.view(namespace)!,
    settings: { ...usualSettings, http: { mount_prefix: '/own' } } })
  const { door } = await openKeyed({ serving: { ...deployments.serving, view } }, {
    auth: { keys: new MemoryKeys(), region: 'us', regionUrls: { us: '' },
      addressOf: addressReader([]), sessions: { issuer, audience: '', keys: keySetFile() } },
    projectHttp: () => ({ mount_prefix: '/agents' }),
    isFromProxy: ({ headers }) => headers['x-test-proxy'] === 'yes',
    ...options,
  })
  await activeIn(deployments, 'shop')
  return door
}

describe('a caller without credentials', () => {
  it.each(['/mcp', '/agents/mcp', '/d/shop/mcp', '/d/shop/own/mcp', '/a2a/agent',
    '/agents/a2a/agent', '/d/shop/a2a/agent', '/d/shop/own/a2a/a%20b'])(
      'is led from %s to a document about that address',
      async (path) => {
        const door = await openWithTokens()
        const refused = await call(door, 'POST', path, list)
        const document = `${door.url}${root}${path}`
        expect([refused.status, refused.headers.get('www-authenticate')])
          .toEqual([401, `Bearer realm="heddle", resource_metadata="${document}"`])
        expect((await call(door, 'GET', root + path)).json).toEqual({ resource: door.url + path,
          authorization_servers: [issuer], bearer_methods_supported: ['header'],
          resource_name: 'Heddle' })
      },
    )

  it('is led from the card of an agent to the document about the agent', async () => {
    const door = await openWithTokens()
    const { headers } = await call(door, 'GET', '/a2a/agent/.well-known/agent-card.json?x=1')
    expect(headers.get('www-authenticate')).toContain(`="${door.url}${root}/a2a/agent"`)
  })

  it('is led nowhere from other addresses, nor by texts that no header takes', async () => {
    const door = await openWithTokens()
    for (const path of ['/threads/x', '/a2a', '/mcp/x']) {
      const { headers } = await call(door, 'GET', path)
      expect(`${path} ${headers.get('www-authenticate')}`).not.toContain('resource_metadata')
    }
    for (const path of ['/a2a/"', '/a2a/a\\b', '/a2a/a b', '/a2a//b', 'http://x'])
      expect(calledPath({ originalUrl: path })).toBeUndefined()
    expect(calledPath({ originalUrl: 'http://x/d/shop/a2a/a%22/?q="' })).toBe('/d/shop/a2a/a%22')
  })

  it('is led to the address that a proxy says, if the proxy is believed', async () => {
    const door = await openWithTokens()
    const forwarded = { 'x-forwarded-host': 'agents.example.org', 'x-forwarded-proto': 'https' }
    const resourceOf = async (headers: Record<string, string>) =>
      (await call(door, 'GET', `${root}/mcp`, undefined, headers)).json
    expect(await resourceOf({ ...forwarded, 'x-test-proxy': 'yes' }))
      .toMatchObject({ resource: 'https://agents.example.org/mcp' })
    expect(await resourceOf(forwarded)).toMatchObject({ resource: `${door.url}/mcp` })
  })

  it('finds no document where nothing is, or is turned off', async () => {
    const off = await openWithTokens({ mcp: false, agents: null })
    const door = await openWithTokens()
    for (const path of ['/mcp', '/a2a/agent']) {
      expect([path, (await call(off, 'GET', root + path)).status]).not.toContain(200)
      expect((await call(await openDoor(), 'GET', root + path)).status).toBe(404)
    }
    for (const path of ['/other/mcp', '/d/none/mcp', '/threads', '/own/mcp', '/d/shop/agents/mcp'])
      expect([path, (await call(door, 'GET', root + path)).status]).not.toContain(200)
  })
})

describe('the login of a project', () => {
  const openapi = loginSecurityOf({
    securitySchemes: {
      sso: { type: 'openIdConnect',
        openIdConnectUrl: 'https://id.example/shop/.well-known/openid-configuration' },
    },
  })!

  it('names the issuers that it documents, and not that of the server', async () => {
    const { door } = await openLoginDoor(undefined, { settings: { openapi } })
    const refused = await call(door, 'POST', '/mcp', list)
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401,
      `Bearer realm="heddle", resource_metadata="${door.url}${root}/mcp"`])
    for (const path of ['/mcp', '/a2a/agent']) {
      expect((await call(door, 'GET', root + path)).json).toMatchObject({
        resource: door.url + path,
        authorization_servers: ['https://id.example/shop'],
      })
    }
  })

  it('leads nowhere if it documents none', async () => {
    const { door } = await openLoginDoor(undefined, {
      auth: { keys: new MemoryKeys(), region: 'us', regionUrls: { us: '' },
        addressOf: addressReader([]), sessions: { issuer, audience: '', keys: keySetFile() } },
    })
    expect((await call(door, 'POST', '/mcp', list)).headers.get('www-authenticate'))
      .toBe('Bearer realm="heddle"')
    expect((await call(door, 'GET', `${root}/mcp`)).status).toBe(404)
  })

  it.each([
    [{ type: 'openIdConnect', openIdConnectUrl: 'https://a.test/.well-known/openid-configuration' },
      ['https://a.test']],
    [{ type: 'oauth2',
      oauth2MetadataUrl: 'https://a.test/.well-known/oauth-authorization-server/shop', flows: {} },
      ['https://a.test/shop']],
    [{ type: 'openIdConnect', openIdConnectUrl: 'https://a.test/other' }, []],
    [{ type: 'openIdConnect', openIdConnectUrl: 'file:///.well-known/openid-configuration' }, []],
    [{ type: 'oauth2', openIdConnectUrl: 'https://a.test/.well-known/openid-configuration' }, []],
    [{ type: 'openIdConnect', openIdConnectUrl: 7 }, []],
    [{ type: 'http', scheme: 'bearer' }, []],
  ])('with %j names %j', (scheme, issuers) => {
    expect(issuersIn(loginSecurityOf({ securitySchemes: { one: scheme, two: scheme } })))
      .toEqual(issuers)
  })
})

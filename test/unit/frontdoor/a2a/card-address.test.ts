/** The address on an agent card: that by which its agent is called, wherever that is mounted. */

import { describe, expect, it } from 'vitest'

import { agentCard, cardOf, cardOfBoth } from '../../../../src/frontdoor/a2a/agent-card.ts'
import { usualSettings } from '../../../../src/graph/index.ts'
import { memoryDeployments } from '../../../support/memory-deployments.ts'
import { activeIn, openKeyed } from '../mount/deployment-door.ts'

/** A server and a deployment `shop` with a prefix each. The deployment has a host of its own. */
async function opened() {
  const deployments = memoryDeployments()
  const view = (namespace: string) => ({ ...deployments.serving.view(namespace)!,
    settings: { ...usualSettings, http: { mount_prefix: '/own' } } })
  const isFromProxy = ({ headers }: { readonly headers: object }) => 'x-test-proxy' in headers
  const keyed = await openKeyed({ serving: { ...deployments.serving, view }, isFromProxy }, {
    isFromProxy,
    projectHttp: () => ({ mount_prefix: '/agents' }),
  })
  await activeIn(deployments, 'shop', { hosts: ['shop.example'] })
  return { ...keyed, acme: await keyed.as('acme') }
}

const proxied = { 'x-test-proxy': 'yes', 'x-forwarded-proto': 'https' }

describe('the address on an agent card', () => {
  it.each([
    ['', '', {}, '/agents'],
    ['/agents', '', {}, '/agents'],
    ['/d/shop', '', {}, '/d/shop/own'],
    ['/d/shop/own', '', {}, '/d/shop/own'],
    ['', 'https://shop.example', { ...proxied, 'x-forwarded-host': 'shop.example' }, '/own'],
    ['/d/shop', 'https://all.example', { ...proxied, 'x-forwarded-host': 'all.example' },
      '/d/shop/own'],
    // Nobody else may say so.
    ['/d/shop', '', { 'x-forwarded-host': 'shop.example', 'x-forwarded-proto': 'https' },
      '/d/shop/own'],
  ])('called below "%s" at "%s" has all prefixes', async (called, origin, headers, prefix) => {
    const { door, acme } = await opened()
    const get = async (path: string) => {
      const answer = await acme('GET', `${called}${path}`, undefined, headers)
      expect([path, answer.status]).toEqual([path, 200])
      return answer.json as { url: string; supportedInterfaces: { url: string }[] }
    }
    const card = await get('/a2a/agent/.well-known/agent-card.json')
    expect(await get('/.well-known/agent-card.json?assistant_id=agent')).toEqual(card)
    const { pathname, href } = new URL(card.url)
    expect(href.slice(0, -pathname.length)).toBe(origin || door.url)
    expect(pathname).toMatch(new RegExp(`^${prefix}/a2a/[0-9a-f-]{36}$`))
    expect(card.supportedInterfaces.map(({ url }) => url)).toEqual([href, href])
    const asked = await acme('POST', pathname.replace(/^(?=\/own)/, '/d/shop'), { jsonrpc: '2.0',
      id: 1, method: 'GetTask', params: { id: 'x' } })
    expect(asked).toMatchObject({ status: 200, json: { error: { code: -32_001 } } })
  })
})

describe('addresses that an assistant names', () => {
  const script = 'java\tscript:alert(1)'
  const url = 'https://a.test/a2a/a'
  const cardFor = (a2a: object, openIdConnectUrl = script) => {
    const auth = { securitySchemes: { login: { type: 'openIdConnect', openIdConnectUrl } },
      security: [{ login: [] }] }
    const card = agentCard({ name: 'A', graphId: 'a', descriptionJson: 'null', version: 1,
      metadataJson: JSON.stringify({ a2a }) }, { url, auth, pushNotifications: true })
    return [card, cardOf(card, '0.3', auth), cardOfBoth(card, auth)]
  }
  const named = { url: script, documentation_url: ' javascript:alert(1)',
    icon_url: 'data:text/html,<script>', provider: { organization: 'A', url: 'vbscript:x' },
    skills: [{ id: 'one', examples: ['javascript: what is it?'], docs: [{ helpUrl: script }] }] }

  it('are left out unless they are web addresses, in each form of a card', () => {
    for (const card of cardFor(named)) {
      const text = JSON.stringify(card)
      expect(text).not.toMatch(/script:alert|data:|vbscript/)
      expect(card).not.toHaveProperty('documentationUrl')
      expect(card).not.toHaveProperty('iconUrl')
      expect(card).toMatchObject({ provider: { organization: 'A' } })
      expect(text).toContain(`"url":"${url}"`)
      expect(text).toContain('javascript: what is it?')
    }
  })

  it('are shown if they are', () => {
    const [card] = cardFor({ url: 'https://b.test/x', documentation_url: '/docs',
      icon_url: 'https://b.test/i.png', provider: { organization: 'A', url: 'http://b.test' } },
      'https://login.test/.well-known/openid-configuration')
    expect(card).toMatchObject({ documentationUrl: '/docs', iconUrl: 'https://b.test/i.png',
      provider: { url: 'http://b.test' }, supportedInterfaces: [{ url: 'https://b.test/x' }, {}] })
    expect(JSON.stringify(card)).toContain('https://login.test/')
  })
})

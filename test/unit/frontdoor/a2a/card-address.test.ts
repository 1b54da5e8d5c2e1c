/** The address on an agent card: that by which its agent is called, wherever that is mounted. */

import { describe, expect, it } from 'vitest'

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

/** Routes that a project turns off, in the server's own project and in deployments. */

import { describe, expect, it } from 'vitest'

import { groupsOf } from '../../../../src/frontdoor/mount/disabled-routes.ts'
import { isDataRoute } from '../../../../src/frontdoor/mount/data-routes.ts'
import { usualSettings } from '../../../../src/graph/index.ts'
import type { RouteGroup } from '../../../../src/graph/index.ts'
import { memoryDeployments } from '../../../support/memory-deployments.ts'
import { allRoutes } from '../all-routes.ts'
import { call } from '../open-front-door.ts'
import { activeIn, openKeyed } from './deployment-door.ts'

/** A route of each group over each protocol. */
const oneOf: Readonly<Record<RouteGroup, readonly (readonly [string, string, object?])[]>> = {
  assistants: [['POST', '/assistants/search', {}], ['POST',
    '/frontdoor.v1.AssistantService/SearchAssistants', {}]],
  threads: [['POST', '/threads/search', {}], ['POST', '/threads/t/commands', {}], ['POST',
    '/frontdoor.v1.ThreadService/SearchThreads', {}]],
  runs: [['POST', '/runs/search', {}], ['GET', '/threads/t/runs'], ['POST', '/runs/crons/search',
    {}], ['POST', '/threads/t/commands', {}], ['POST', '/frontdoor.v1.RunService/ListRuns', {}], [
    'POST',
    '/frontdoor.v1.CronService/SearchCrons',
    {},
  ]],
  store: [['POST', '/store/namespaces', {}], ['POST', '/frontdoor.v1.StoreService/SearchItems',
    {}]],
  mcp: [['POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' }], ['POST', '/mcp/', {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/list',
  }]],
  a2a: [['POST', '/a2a/agent', {}], ['GET', '/a2a/agent/.well-known/agent-card.json'], ['GET',
    '/.well-known/agent-card.json']],
  meta: [['GET', '/info'], ['GET', '/docs/'], ['GET', '/openapi.json']],
  ui: [['POST', '/ui/agent', { name: 'card' }], ['GET', '/ui/agent/ui.js']],
}
const groups = Object.keys(oneOf) as readonly RouteGroup[]

describe('a group of routes that is off', () => {
  it('has every route of the data', async () => {
    const { routes } = await allRoutes()
    const without = routes.map(({ url }) => url).filter((url) =>
      isDataRoute(url) && groupsOf(url).length === 0
    )
    expect([...new Set(without)].filter((url) => !url.startsWith('/api/')).toSorted())
      .toEqual(['/', '/ok'])
  })

  it.each(groups)('%s: is not served by the server or a deployment', async (group) => {
    const deployments = memoryDeployments()
    const view = (namespace: string) => ({ ...deployments.serving.view(namespace)!,
      settings: { ...usualSettings, disabled_routes: [group] } })
    const { door, as } = await openKeyed({ serving: { ...deployments.serving, view } }, {
      disabledRoutes: () => [group],
    })
    const { deployments: others, as: otherAs } = await openKeyed()
    await activeIn(deployments)
    await activeIn(others)
    const [off, on] = [await as('acme'), await otherAs('acme')]
    for (const prefix of ['', '/d/shop']) {
      for (const [method, path, body] of oneOf[group]) {
        const { status, text } = await off(method, prefix + path, body)
        expect([prefix, path, status, text])
          .toEqual([prefix, path, 404, expect.stringContaining(`http.disable_${group}`)])
        expect((await on(method, prefix + path, body)).text).not.toContain('http.disable_')
      }
      const [[method, path, body]] = oneOf[groups.find((each) => each !== group)!] as [
        readonly [string, string, object?],
      ]
      expect((await off(method, prefix + path, body)).status).not.toBe(404)
      expect((await call(door, 'GET', `${prefix}/ok`)).status).toBe(200)
    }
  })
})

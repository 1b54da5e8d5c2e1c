/** The contract and the routes: each operation is served, and most routes are operations. */

import { expect, it } from 'vitest'

import { operations } from '../../../src/api/index.ts'
import { isDataRoute, isTypedCall } from '../../../src/frontdoor/mount/data-routes.ts'
import { allRoutes } from './all-routes.ts'

/** Routes that are not of the contract, by the first word of their paths: they only get fewer. */
const outside: Readonly<Record<string, number>> = { '*': 1, '': 1, docs: 6, 'openapi.json': 1,
  internal: 2 }

it('serves every operation, and has all routes but these', async () => {
  const { routes } = await allRoutes()
  const served = new Set(routes.map(({ config }) => config?.operation))
  expect(operations.filter(({ operation }) => !served.has(operation)).map(({ name }) => name))
    .toEqual([])
  expect(new Set(operations.map(({ name }) => name)).size).toBe(operations.length)
  const words = routes.filter(({ config, method, url }) =>
    config?.operation === undefined && method !== 'HEAD' && !url.includes('/frontdoor.v1.')
  ).map(({ url }) => /^\/?(?:api\/v\d\/)?(?:platform\/)?([^/]*)/.exec(url)![1]!)
  const counts = Map.groupBy(words, (word) => word)
  expect(Object.fromEntries([...counts].map(([word, all]) => [word, all.length] as const)))
    .toEqual(outside)
})

/** Routes of deployments that go by the keys of the server, or are open, by their first word. */
const unasked = new Set(['', 'docs', 'openapi.json', 'api'])

it('says of each operation of a deployment what the login of its project is asked', async () => {
  const { routes } = await allRoutes()
  const asked = routes.filter(({ url, method }) =>
    isDataRoute(url) && method !== 'HEAD' && !isTypedCall(url) && !unasked.has(url.split('/')[1]!)
  )
  expect(asked.length).toBeGreaterThan(50)
  for (const { url, method, config } of asked) {
    const { asks } = config?.operation ?? {}
    expect(asks, `${String(method)} ${url}`).toBeDefined()
    if (typeof asks === 'object' && 'nothing' in asks) expect(asks.nothing).toMatch(/^[A-Z].*\.$/)
  }
  const ofOthers = operations.filter(({ operation }) => operation.path.startsWith('/api/v1/'))
  expect(ofOthers.filter(({ operation }) => operation.asks !== undefined)).toEqual([])
})

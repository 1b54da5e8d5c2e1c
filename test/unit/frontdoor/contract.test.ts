/** The contract and the routes: each operation is served, and most routes are operations. */

import { expect, it } from 'vitest'

import { operations } from '../../../src/api/index.ts'
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

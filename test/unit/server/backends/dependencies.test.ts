/** The things that a member depends on, as its health tells them. */

import { expect, it } from 'vitest'

import { checkAll } from '../../../../src/frontdoor/http/dependency.ts'
import { dependenciesOf } from '../../../../src/server/backends/dependencies.ts'
import { virtualEnv } from '../../../support/env.ts'

const settings = { auth: 'none', cassandra: {}, limits: false } as never
const stats = { rows: 3, bytes: 900, oldestMs: 10, failures: 4, failing: 0 }

const check = async (failing?: number) =>
  Object.entries(
    await checkAll({ env: virtualEnv(), dependencies: dependenciesOf(settings, {
      check: async () => {},
      keys: {} as never,
      projections: failing === undefined ? undefined : { stats: { ...stats, failing } },
    }, async () => {}) }),
  ).map(([name, { ok }]) => `${name} ${ok}`)

it('Rows that cannot be written yet are shown, and no reason to refuse requests.', async () => {
  expect(await check()).toEqual(['store true'])
  expect(await check(0)).toEqual(['store true', 'rows true'])
  expect(await check(2)).toEqual(['store true', 'rows false'])
})

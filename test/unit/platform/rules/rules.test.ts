/** Changes of rules by callers. */

import { expect, it } from 'vitest'

import { rulesOver } from '../../../../src/platform/evaluate/rules/rules.ts'
import type { RuleParts } from '../../../../src/platform/evaluate/rules/rules.ts'
import { CatalogHouse } from '../catalog/catalog-house.ts'

const project = '11111111-1111-4111-8111-111111111111'

function ruleCalls() {
  const house = new CatalogHouse()
  const after = (_ms: number, fn: () => void) => {
    setImmediate(fn)
    return () => {}
  }
  return rulesOver({
    catalogs: house.client(),
    projects: { get: () => Promise.resolve([{ id: project, name: 'p' }]) },
    query: () => ({ validate: () => Promise.resolve(null) }),
    client: { wake: () => {}, begin: () => Promise.resolve() },
    judging: { port: { egress: { check: () => {} } } },
    env: { ...house.env, after },
  } as unknown as RuleParts)
}

it('two changes of a rule at the same time keep what each of them sets', async () => {
  const rules = ruleCalls()
  const { id } = await rules.create('acme', { display_name: 'one', session_id: project,
    is_enabled: true, webhooks: [{ url: 'https://a.example' }] })
  await Promise.all([
    rules.change('acme', id, { is_enabled: false }),
    rules.change('acme', id, { display_name: 'two' }),
    rules.change('acme', id, { sampling_rate: 0.5 }),
  ])
  expect(await rules.get('acme', id)).toMatchObject({ display_name: 'two', is_enabled: false,
    sampling_rate: 0.5 })
})

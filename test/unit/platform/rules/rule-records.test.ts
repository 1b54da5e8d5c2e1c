/** Records of rules: who reads a project, states of one writer, and the list of those awake. */

import { beforeEach, expect, it } from 'vitest'

import { unbegun } from '../../../../src/platform/evaluate/rules/rule-state.ts'
import { ruleRecords } from '../../../../src/platform/evaluate/rules/rule-records.ts'
import type { RuleRecords } from '../../../../src/platform/evaluate/rules/rule-records.ts'
import { CatalogHouse } from '../catalog/catalog-house.ts'

const code = (name: string) => expect.objectContaining({ code: name }) as unknown

let house: CatalogHouse
let records: RuleRecords

beforeEach(() => {
  house = new CatalogHouse()
  records = ruleRecords(house.client(), house.env)
})

it('Enabled rules are found by the project or the dataset that they read.', async () => {
  const body = { display_name: 'one', is_enabled: true, session_id: 'p' }
  await records.create('acme', 'a', body)
  await records.create('acme', 'b', { ...body, session_id: null, dataset_id: 'd' })
  await records.create('acme', 'c', { ...body, is_enabled: false })
  const projects = [{ id: 'p', referenceDatasetId: 'd' }, { id: 'q', referenceDatasetId: null }]
  expect(await records.readersOf('acme', projects))
    .toEqual(new Map([['p', [{ owner: 'p', rules: ['a'] }, { owner: 'd', rules: ['b'] }]]]))
  await records.change('acme', { id: 'a', revision: 0 }, { ...body, is_enabled: false })
  expect((await records.readersOf('acme', projects)).get('p')).toHaveLength(1)
  expect((await records.all('acme')).map(({ id }) => id)).toEqual(['a', 'b', 'c'])
  await records.delete('acme', 'b')
  expect(await records.readersOf('acme', projects)).toEqual(new Map())
  expect(await records.get('acme', 'b')).toBeUndefined()
})

it('A change of a rule by what was read before another change is stale.', async () => {
  const body = { display_name: 'one', is_enabled: true, session_id: 'p' }
  const made = await records.create('acme', 'a', body)
  const changed = await records.change('acme', made, { ...body, is_enabled: false })
  await expect(records.change('acme', made, { ...body, display_name: 'two' }))
    .rejects.toEqual(code('stale'))
  const again = await records.change('acme', changed, { display_name: 'two' })
  expect(again).toMatchObject({ display_name: 'two', is_enabled: false })
})

it('A state is replaced only by the next version.', async () => {
  const rule = { tenant: 'acme', id: 'a' }
  expect(await records.state(rule)).toBeUndefined()
  const first = { ...unbegun, version: 1, cursor: 'x' }
  await records.saveState(rule, first)
  await records.saveState(rule, { ...first, version: 2 })
  await expect(records.saveState(rule, { ...first, version: 2 })).rejects.toEqual(code('stale'))
  expect(await records.state(rule)).toEqual({ ...first, version: 2 })
  await records.deleteState(rule)
  await records.deleteState(rule)
  expect(await records.state(rule)).toBeUndefined()
})

it('The list of all tenants has a rule once, and goes on after a place.', async () => {
  const rules = [{ tenant: 'acme', id: 'a' }, { tenant: 'other', id: 'a' }]
  for (const rule of [...rules, ...rules]) await records.awake.add(rule)
  const [first, second] = await records.awake.page()
  expect([first, second]).toMatchObject(rules)
  expect(await records.awake.page(first!.place)).toMatchObject([rules[1]])
  await records.awake.remove(rules[0]!)
  await records.awake.remove(rules[0]!)
  expect(await records.awake.page()).toMatchObject([rules[1]])
})

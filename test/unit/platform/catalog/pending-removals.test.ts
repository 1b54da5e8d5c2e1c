/** Removals of records whose data is stored elsewhere, over crashes, late writers and clocks. */

import { expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { PendingRemovals } from '../../../../src/platform/records/catalog/pending-removals.ts'
import type { RemovableKind } from '../../../../src/platform/records/catalog/pending-removals.ts'
import { CatalogHouse } from './catalog-house.ts'

const [tenant, id] = ['acme', '11111111-1111-4111-8111-111111111111']
const settledMs = 600_000

function removalHouse() {
  const house = new CatalogHouse()
  const state = { exists: true, data: 1, failing: false, aheadMs: 0 }
  const kind: RemovableKind = {
    exists: () => Promise.resolve(state.exists),
    delete: () => {
      if (!state.exists) return Promise.reject(new HeddleError('not_found'))
      state.exists = false
      return Promise.resolve()
    },
    erase: () => {
      if (state.failing) return Promise.reject(new HeddleError('unavailable'))
      state.data = 0
      return Promise.resolve()
    },
  }
  // Timers stay off: the tests check when they want to.
  const rightMs = house.env.nowMs.bind(house.env)
  // Also the clock of the catalogs.
  house.env.nowMs = () => rightMs() + state.aheadMs
  const env = { ...house.env, uuid: () => crypto.randomUUID(), after: () => () => {} }
  const member = () =>
    new PendingRemovals({ catalogs: house.client(), env,
      kinds: { dataset: kind, project: kind, queue: kind } })
  return { state, env: house.env, member }
}

it('data of a removal that failed is deleted after a restart', async () => {
  const { state, member } = removalHouse()
  state.failing = true
  await member().remove('dataset', tenant, id)
  expect(state).toMatchObject({ exists: false, data: 1 })
  state.failing = false
  const next = member()
  await next.check()
  expect(state.data).toBe(0)
})

it('data of a writer that was late is deleted when no writer is left', async () => {
  const { state, env, member } = removalHouse()
  const first = member()
  await first.remove('queue', tenant, id)
  await first.check()
  expect(state.data).toBe(0)
  state.data = 1
  expect(await first.check()).toBe(1)
  expect(state.data).toBe(1)
  env.advance(settledMs)
  expect(await first.check()).toBe(0)
  expect(state.data).toBe(0)
})

it('a record that was made again with its id keeps its data', async () => {
  const { state, env, member } = removalHouse()
  const first = member()
  await first.remove('project', tenant, id)
  await first.check()
  Object.assign(state, { exists: true, data: 2 })
  env.advance(settledMs)
  expect(await first.check()).toBe(0)
  expect(state.data).toBe(2)
})

it('a record that does not exist is not found, and lists no removal', async () => {
  const { state, member } = removalHouse()
  state.exists = false
  const first = member()
  await expect(first.remove('dataset', tenant, id)).rejects.toMatchObject({ code: 'not_found' })
  expect(await first.check()).toBe(0)
})

it('a removal that was listed by a clock ahead waits for late writers', async () => {
  const { state, env, member } = removalHouse()
  const first = member()
  state.aheadMs = 500 * 86_400_000
  await first.remove('dataset', tenant, id)
  expect(await first.check()).toBe(1)
  state.aheadMs = 0
  for (const one of [first, member()]) {
    expect(await one.check()).toBe(1)
    state.data = 1
    env.advance(settledMs)
  }
  expect(await first.check()).toBe(0)
  expect(state.data).toBe(0)
})

it('a removal that another member finished is not remembered', async () => {
  const { state, env, member } = removalHouse()
  const [first, second] = [member(), member()]
  state.aheadMs = 500 * 86_400_000
  await first.remove('dataset', tenant, id)
  state.aheadMs = 0
  for (const one of [first, second]) await one.check()
  env.advance(settledMs)
  expect(await second.check()).toBe(0)
  expect(await first.check()).toBe(0)
  // The same id is removed again under a clock that is ahead: late writers have their time.
  Object.assign(state, { exists: true, data: 2, aheadMs: 500 * 86_400_000 })
  await second.remove('dataset', tenant, id)
  state.aheadMs = 0
  expect(await first.check()).toBe(1)
})

/** Spans that were written under a clock that was ahead. */

import { afterEach, beforeEach, expect, it } from 'vitest'

import { noFields } from '../../../../../src/platform/index.ts'
import type { SpanPlace, SpanStore } from '../../../../../src/platform/index.ts'
import { aPost, requestOf, uuidOf } from '../../../../contract/span-histories.ts'
import { clockAhead } from '../../../../support/clock-ahead.ts'
import { dayMs, TraceHouse } from './trace-house.ts'

let house: TraceHouse
beforeEach(() => {
  house = new TraceHouse()
})
afterEach(() => house.close())

const named = (place: SpanPlace, name: string, arrivedUs: number, block: bigint) =>
  requestOf(house.tenant, [
    aPost(place, { kind: 'patch', arrivedUs, block, fields: { ...noFields, name } }),
  ])

async function nameAndBlocks(store: SpanStore, place: SpanPlace) {
  const [head] = await store.heads([place])
  return [head!.name, ...head!.blocks]
}

it('lets a later patch win over a patch of a process whose clock was ahead', async () => {
  const place = house.place(1)
  const store = house.open()
  const aheadUs = house.nowUs + 365 * dayMs * 1_000
  await store.write(named(place, 'first', aheadUs, 1n))
  await store.write(named(place, 'second', aheadUs + 1, 2n))
  await store.write(named(place, 'third', house.nowUs, 3n))
  expect(await nameAndBlocks(store, place)).toEqual(['third', 1n, 2n, 3n])
  house.env.advance(1_000)
  await store.write(named(place, 'fourth', house.nowUs, 4n))
  expect(await nameAndBlocks(store, place)).toEqual(['fourth', 1n, 2n, 3n, 4n])
})

it('keeps the first post of a span that came under a clock that was ahead', async () => {
  const place = house.place(1)
  const store = house.open()
  const aheadUs = house.nowUs + 365 * dayMs * 1_000
  const post = (name: string, arrivedUs: number) =>
    requestOf(house.tenant, [aPost(place, { arrivedUs, fields: { ...noFields, name } })])
  await store.write(post('first', aheadUs))
  await store.write(post('second', house.nowUs))
  expect((await store.heads([place]))[0]!.name).toBe('first')
})

it('deletes nothing by age when the file is opened again while the clock is ahead', async () => {
  const store = house.open()
  const place = house.place(1)
  await store.write({ ...requestOf(house.tenant, [aPost(place, { arrivedUs: house.nowUs })]),
    timeToLiveS: new Map([[place.project, 14 * 86_400]]) })
  await clockAhead(house.env, async () => {
    house.replaceFile()
    expect(await house.idsIn(store)).toEqual([place.id])
    await house.pass(130)
  })
  expect(await house.idsIn(store)).toEqual([place.id])
})

it('deletes spans of a process whose clock was 60 days ahead after their life from now on',
  async () => {
    const [ahead, right] = [house.place(1), house.place(2)]
    const other = { ...house.place(3), project: uuidOf(1, 9) }
    const lives = new Map([[ahead.project, 14 * 86_400], [other.project, 400 * 86_400]])
    const post = (place: SpanPlace) => aPost(place, { arrivedUs: house.nowUs })
    await clockAhead(house.env, async () => {
      const store = house.open()
      await store.write({ ...requestOf(house.tenant, [post(ahead)]), timeToLiveS: lives })
      await store.close()
    })
    const store = house.open()
    await store.write({ ...requestOf(house.tenant, [post(right), post(other)]),
      timeToLiveS: lives })
    await house.pass(130)
    house.env.advance(13 * dayMs)
    await house.pass(130)
    expect((await house.idsIn(store)).toSorted()).toEqual([ahead.id, right.id].toSorted())
    house.env.advance(2 * dayMs)
    await house.pass(130)
    expect(await house.idsIn(store)).toEqual([])
    expect(await store.heads([other])).toHaveLength(1)
  })

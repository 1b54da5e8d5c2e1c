/** Events of a deployment: each has a number of its own, and whoever follows misses none. */

import { expect, it } from 'vitest'

import { RecordsHouse } from './records-house.ts'

const event = (number: number) => ({ kind: 'build', by: 'ann', data: { number } }) as const

it('Events are read in order, page by page, from any number.', async () => {
  const house = new RecordsHouse()
  const { id } = await house.create()
  expect(await house.deployments.events(id, 0, 10)).toEqual([])
  for (let number = 1; number <= 7; number++) await house.deployments.note(id, event(number))
  const seqs = async (after: number, limit: number) =>
    (await house.deployments.events(id, after, limit)).map(({ seq }) => seq)
  expect(await seqs(0, 10)).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect(await seqs(0, 3)).toEqual([1, 2, 3])
  expect(await seqs(3, 4)).toEqual([4, 5, 6, 7])
  expect(await seqs(6, 10)).toEqual([7])
  expect(await seqs(7, 10)).toEqual([])
  expect(await seqs(0, 6)).toEqual([1, 2, 3, 4, 5, 6])
  expect((await house.deployments.events(id, 1, 1))[0])
    .toEqual({ seq: 2, atMs: house.env.nowMs(), ...event(2) })
  expect(house.noted).toEqual(Array.from({ length: 7 }, () => id))
})

it('What is too long is left out of an event.', async () => {
  const house = new RecordsHouse()
  const { id } = await house.create()
  const noted = await house.deployments.note(id, { kind: 'report', by: 'ann',
    data: { text: 'x'.repeat(70_000) } })
  expect(noted.data).toEqual({ too_large: true })
})

it('What is owed is noted once, by whoever comes first, and then owed no more.', async () => {
  const house = new RecordsHouse()
  const { deployments } = house
  const shop = await house.create()
  const owed = [7, 8, 9].map((mark) => ({ ...event(mark), mark }))
  const changed = await deployments.change(shop, { owed })
  expect((await deployments.get('shop')).owed).toEqual(owed)
  for (const one of owed.slice(0, 2)) await deployments.noteOwed(shop.id, one)
  await deployments.note(shop.id, event(100))
  for (const one of owed) await deployments.noteOwed(shop.id, one)
  expect((await deployments.events(shop.id, 0, 10)).map(({ data }) => data['number']))
    .toEqual([7, 8, 100, 9])
  await deployments.settle(changed)
  expect(await deployments.get('shop')).toEqual({ ...changed, owed: [] })
  await deployments.change(changed, { paused: true })
  await expect(deployments.settle(changed)).rejects.toMatchObject({ code: 'stale' })
})

it('Without its deployment nothing is noted.', async () => {
  const house = new RecordsHouse()
  const shop = await house.create()
  await house.deployments.remove(shop)
  await expect(house.deployments.note(shop.id, event(1))).rejects.toMatchObject({
    code: 'not_found',
  })
  expect(await house.left(shop)).toBe(0)
})

it('A follower misses nothing while several members note.', async () => {
  const house = new RecordsHouse()
  const { id } = await house.create()
  let state = 17
  const slow = async () => {
    state = (state * 48_271) % 2_147_483_647
    for (let pause = state % 5; pause > 0; pause--) await new Promise(setImmediate)
    return 'done' as const
  }
  const noted: number[] = []
  let isOver = false
  const members = [1, 2, 3].map(async (member) => {
    const caller = house.caller(slow)
    for (let count = 0; count < 15; count++) {
      noted.push((await caller.note(id, event(member * 100 + count))).seq)
    }
  })
  const follow = async () => {
    const reader = house.caller(slow)
    const read: number[] = []
    for (let last = false; !last;) {
      last = isOver
      for (const { seq } of await reader.events(id, read.at(-1) ?? 0, 4)) {
        read.push(seq)
        last = false
      }
    }
    return read
  }
  const following = follow()
  await Promise.all(members)
  isOver = true
  const all = Array.from({ length: 45 }, (_, index) => index + 1)
  expect(noted.toSorted((one, other) => one - other)).toEqual(all)
  expect(await following).toEqual(all)
})

/** What a worker gets: as much as its loop can begin, and one node of each lane beyond that. */

import { describe, expect, it } from 'vitest'

import { isFree, LoopLoad } from '../../../../../src/graph/pool/turns/loop-load.ts'

const short = { ms: 1, lane: 'a' }
const long = { ms: 150, lane: 'a' }

function loadOf(...holders: readonly { readonly ms: number; readonly lane: string }[]): LoopLoad {
  const load = new LoopLoad(() => 0)
  holders.forEach((holder, index) => load.add(index + 1, holder))
  return load
}

describe('the load of a loop', () => {
  it('has room for anything if nothing is before it', () => {
    expect(loadOf().hasRoomFor({ ms: 2_000, lane: 'a' })).toBe(true)
  })

  it('takes many short nodes, and one long one', () => {
    expect(loadOf(short, short, short).hasRoomFor(short)).toBe(true)
    expect(loadOf(...Array.from({ length: 25 }, () => short)).hasRoomFor(short)).toBe(false)
    expect(loadOf(long).hasRoomFor(long)).toBe(false)
    expect(loadOf({ ms: 10, lane: 'a' }).hasRoomFor({ ms: 10, lane: 'a' })).toBe(true)
  })

  it('takes no more while what it has is late to begin: something else holds it', () => {
    let nowMs = 0
    const load = new LoopLoad(() => nowMs)
    load.add(1, short)
    nowMs = 25
    expect(load.hasRoomFor(short)).toBe(true)
    nowMs = 26
    expect(load.hasRoomFor(short)).toBe(false)
    expect(load.hasRoomFor({ ...short, lane: 'b' })).toBe(true)
    load.begun(1, 0)
    expect(load.hasRoomFor(short)).toBe(true)
  })

  it('takes one run of each other lane behind a long node, up to a bound', () => {
    const load = loadOf(long)
    expect(load.hasRoomFor({ ...long, lane: 'b' })).toBe(true)
    load.add(2, { ...long, lane: 'b' })
    expect(load.hasRoomFor({ ...short, lane: 'b' })).toBe(false)
    for (let job = 3; job <= 32; job += 1) load.add(job, { ...long, lane: `${job}` })
    expect(load.hasRoomFor({ ...short, lane: 'c' })).toBe(false)
  })

  it('is over with a run that ended, and with a short one that has begun', () => {
    const load = loadOf(long, short)
    load.delete(1)
    load.begun(2, 1)
    expect([load.isEmpty, load.aheadMs]).toEqual([true, 0])
    load.delete(1)
    expect(load.hasRoomFor(long)).toBe(true)
  })

  it('keeps a run that held the loop for longer than is known of its graph', () => {
    const load = loadOf(short)
    load.begun(1, 150)
    expect(load.isEmpty).toBe(false)
  })

  it('keeps long ones that have begun until the loop is free', () => {
    const load = loadOf(long)
    expect(load.mayRest).toBe(false)
    load.begun(1, 0)
    expect([load.hasRoomFor(long), load.mayRest]).toEqual([false, true])
    load.free(1)
    expect([load.isEmpty, load.mayRest]).toEqual([true, false])
  })

  it('keeps what has not begun until the loop is free a second time', () => {
    const load = loadOf(long)
    load.add(2, { ...long, lane: 'b' })
    load.free(1)
    load.free(1)
    expect(load.aheadMs).toBe(150)
    load.free(2)
    expect(load.isEmpty).toBe(false)
    load.free(2)
    expect(load.isEmpty).toBe(true)
  })
})

it('A loop that answers within some milliseconds is free', () => {
  expect([0, 10, 11].map(isFree)).toEqual([true, true, false])
})

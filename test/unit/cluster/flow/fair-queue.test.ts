/** A queue that serves the key that has used least, and the turns on a thread over it. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { FairQueue } from '../../../../cluster/flow/fair-queue.ts'
import { FairTurns } from '../../../../cluster/flow/fair-turns.ts'

describe('a fair queue', () => {
  it('gives each key the same share, whatever its items cost and however many wait', () => {
    const key = fc.record({ count: fc.integer({ min: 1, max: 50 }),
      cost: fc.integer({ min: 1, max: 20 }) })
    fc.assert(fc.property(fc.array(key, { minLength: 2, maxLength: 5 }), (keys) => {
      const queue = new FairQueue<object>()
      keys.forEach(({ count }, n) => {
        for (let item = 0; item < count; item++) queue.push(String(n), {})
      })
      const left = keys.map(({ count }) => count)
      const used = keys.map(() => 0)
      for (let next = queue.take(); next !== undefined; next = queue.take()) {
        const n = Number(next.key)
        queue.charge(next.key, keys[n]!.cost)
        used[n]! += keys[n]!.cost
        left[n]!--
        const waiting = used.filter((_, each) => left[each]! > 0)
        // Two keys that both wait differ by one item at most.
        if (waiting.length > 1)
          expect(Math.max(...waiting) - Math.min(...waiting))
            .toBeLessThanOrEqual(20)
      }
      expect(left.every((count) => count === 0)).toBe(true)
      expect(queue.size).toBe(0)
    }), { numRuns: 100 })
  })

  it('serves a newcomer next, and saves nothing up for one that was idle', () => {
    const queue = new FairQueue<string>()
    const taken = (count: number) =>
      Array.from({ length: count }, () => {
        const { key, item } = queue.take()!
        queue.charge(key, 10)
        return item
      })
    for (const item of ['a1', 'a2', 'a3', 'a4', 'a5', 'a6']) queue.push('a', item)
    expect(taken(2)).toEqual(['a1', 'a2'])
    for (const item of ['b1', 'b2', 'b3']) queue.push('b', item)
    expect(taken(5)).toEqual(['b1', 'a3', 'b2', 'a4', 'b3'])
  })
})

describe('turns on a thread', () => {
  it('are taken by key: long work of one delays that of another by a slice', async () => {
    let nowMs = 0
    const turns = new FairTurns({ monotonicMs: () => nowMs })
    const order: string[] = []
    const work = async (key: string, slices: number) => {
      const pause = turns.pauses(key)
      for (let slice = 0; slice < slices; slice++) {
        await pause()
        order.push(key)
        nowMs += 5
      }
    }
    const long = [work('long', 20), work('long', 20)]
    await new Promise(setImmediate)
    await new Promise(setImmediate)
    const before = order.length
    await work('short', 1)
    expect(order.length - before).toBeLessThanOrEqual(3)
    await Promise.all(long)
    expect(order).toHaveLength(41)
  })

  it('are not waited for by what takes no millisecond, however long others have worked', () => {
    let nowMs = 1_000
    const pause = new FairTurns({ monotonicMs: () => nowMs }).pauses('brief')
    nowMs += 0.9
    expect(pause()).toBeUndefined()
    nowMs += 0.1
    expect(pause()).toBeInstanceOf(Promise)
  })
})

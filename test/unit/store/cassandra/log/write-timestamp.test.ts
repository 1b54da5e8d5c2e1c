/** Ranks: the write of a later owner wins, and a later write of the same owner. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { WriteTimestamp } from '../../../../../src/store/cassandra/log/write-timestamp.ts'
import { expectAlways } from '../../../../support/expect-always.ts'

describe('ranks', () => {
  it('grow with the epoch first, and then with each call', () => {
    const epoch = fc.integer({ min: 0, max: 2 ** 24 - 1 })
    expectAlways(fc.property(epoch, epoch, (one, other) => {
      const [first, second] = [new WriteTimestamp().next(one), new WriteTimestamp().next(other)]
      expect(first < second).toBe(one <= other)
    }))
  })

  it('are above every wall clock and fit into a timestamp', () => {
    const inTheYear3000 = BigInt(Date.UTC(3_000, 0, 1)) * 1_000n
    expect(new WriteTimestamp().next(0)).toBeGreaterThan(inTheYear3000)
    const highest = new WriteTimestamp().next(2 ** 24 - 1)
    expect(new WriteTimestamp().last()).toBeGreaterThan(highest)
    expect(new WriteTimestamp().last()).toBeLessThan(2n ** 63n)
  })
})

/** The shard of a key: always the same, and evenly spread. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { actorKeyText } from '../../../../cluster/actors/actor-key.ts'
import { shardOf } from '../../../../cluster/shards/shard.ts'
import { expectAlways } from '../../../support/expect-always.ts'

describe('the shard of a key', () => {
  it('never changes, because rows are stored under it', () => {
    const texts = ['', 'game\nlocal\n1', 'game\nlocal\n2', 'spiel\nmünchen\n½', '♜'.repeat(40)]
    expect(texts.map((text) => shardOf(text, 256))).toEqual([11, 176, 172, 168, 89])
  })

  it('is one of the shards, for any text', () => {
    expectAlways(
      fc.property(fc.string({ unit: 'binary' }), fc.integer({ min: 1, max: 4_096 }),
        (text, shards) => {
          const shard = shardOf(text, shards)
          expect(Number.isInteger(shard) && shard >= 0 && shard < shards).toBe(true)
        }),
    )
  })

  it('spreads keys that differ in one character evenly', () => {
    const counts = new Array<number>(256).fill(0)
    for (let id = 0; id < 256 * 100; id++) {
      counts[shardOf(actorKeyText({ kind: 'game', tenant: 'local', id: `${id}` }), 256)]!++
    }
    expect(Math.min(...counts)).toBeGreaterThan(50)
    expect(Math.max(...counts)).toBeLessThan(160)
  })
})

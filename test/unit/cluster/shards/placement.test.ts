/** Rendezvous placement: even, and with no more moves than necessary. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { Member } from '../../../../cluster/index.ts'
import { placeShard } from '../../../../cluster/shards/placement.ts'
import { expectAlways } from '../../../support/expect-always.ts'

const shards = Array.from({ length: 256 }, (_, shard) => shard)

const someMembers = fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 8 })
  .map((ids) => ids.map((id): Member => ({ id, address: `${id}:1` })))

describe('placement', () => {
  it('does not depend on the order of the members', () => {
    expectAlways(fc.property(someMembers, fc.constantFrom(...shards), (members, shard) => {
      expect(placeShard(shard, members.toReversed())).toBe(placeShard(shard, members))
    }))
  })

  it('moves shards only to a member that joins', () => {
    expectAlways(fc.property(someMembers, fc.uuid(), (members, id) => {
      fc.pre(members.every((member) => member.id !== id))
      const joining = { id, address: 'new:1' }
      for (const shard of shards) {
        const after = placeShard(shard, [...members, joining])
        if (after !== joining) expect(after).toBe(placeShard(shard, members))
      }
    }))
  })

  it('gives each of a few members a fair share', () => {
    expectAlways(fc.property(someMembers, (members) => {
      const fair = shards.length / members.length
      for (const member of members) {
        const share = shards.filter((shard) => placeShard(shard, members) === member).length
        expect(Math.abs(share - fair)).toBeLessThan(6 * Math.sqrt(fair))
      }
    }))
  })

  it('throws for an empty view', () => {
    expect(() => placeShard(0, [])).toThrow('a view has at least one member')
  })
})

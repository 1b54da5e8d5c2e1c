/** What a member knows of shards: which news it takes over, and which owner it names. */

import { describe, expect, it } from 'vitest'

import type { ShardClaim } from '../../../../cluster/index.ts'
import { ShardTable } from '../../../../cluster/shards/shard-table.ts'

const self = { id: 'm1', address: 'm1:1' }
const ended = new Set<string>()

function newTable(): ShardTable {
  return new ShardTable(self, 1, {
    hasEnded: (id) => ended.has(id),
    sees: (id) => !ended.has(id),
  })
}

function owner(session: string | null, epoch: number): ShardClaim {
  return { shard: 0, epoch, session, address: `${session}:1` }
}

describe('a table of shards', () => {
  it('takes over an owner of a higher epoch, and none of an older one', () => {
    const table = newTable()
    table.note(owner('m2', 3))
    table.note(owner('m3', 2))
    expect(table.ownerOf(0)).toEqual({ member: { id: 'm2', address: 'm2:1' }, epoch: 3 })
    table.note(owner('m3', 4))
    expect(table.ownerOf(0)?.member.id).toBe('m3')
  })

  it('learns in the same epoch that the owner gave it back, unless it is the owner itself', () => {
    const table = newTable()
    table.note(owner('m2', 3))
    table.note(owner(null, 3))
    expect(table.known[0]?.session).toBeNull()
    table.note(owner('m1', 4))
    table.enter(0, 'owned')
    table.note(owner(null, 4))
    expect(table.ownerOf(0)?.member).toBe(self)
  })

  it('answers for a shard until it is stopped', () => {
    const table = newTable()
    table.note(owner('m1', 1))
    const phases = ['taking', 'owned', 'giving', 'stopped', 'free'] as const
    const served = phases.filter((phase) => {
      table.enter(0, phase)
      return table.ownerOf(0) !== undefined
    })
    expect(served).toEqual(['owned', 'giving'])
  })

  it('names no owner that is doubted until it was read', () => {
    const table = newTable()
    table.note(owner('m2', 1))
    expect(table.doubt(0)).toEqual({ id: 'm2', address: 'm2:1' })
    expect(table.ownerOf(0)).toBeUndefined()
    table.believe(0)
    expect(table.ownerOf(0)?.member.id).toBe('m2')
  })

  it('has nothing to do while no member stays', () => {
    const table = newTable()
    expect(table.moves()).toEqual([])
    table.place([self])
    expect(table.moves()).toEqual([{ shard: 0, move: 'take' }])
  })

  it('hands hints only to the owner after the one that reported them', () => {
    const table = newTable()
    const goingOn = [{ kind: 'game', tenant: '', id: 'a' }]
    table.keepHints({ ...owner(null, 3), goingOn })
    expect(table.takeHints(owner('m1', 4))).toEqual(goingOn)
    expect(table.takeHints(owner('m1', 4))).toBeUndefined()
    table.keepHints({ ...owner(null, 3), goingOn })
    expect(table.takeHints(owner('m1', 5))).toBeUndefined()
  })
})

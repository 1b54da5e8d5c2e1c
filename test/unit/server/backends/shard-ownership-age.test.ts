/** Which front doors a new counter asks: all of them, if its shard has just been taken. */

import { describe, expect, it } from 'vitest'

import type { Member, ShardHost } from '../../../../cluster/index.ts'
import { ShardOwnershipAge } from '../../../../src/server/backends/shard-ownership-age.ts'
import { virtualEnv } from '../../../support/env.ts'

const question = { row: 'default-key', who: 'somebody', counter: 'new' }
const [self, other, silent] = ['self', 'other', 'silent'].map((id): Member => ({ id,
  address: id })
) as [Member, Member, Member]
const intervalMs = 10_000

function ownershipAgeOf(...view: Member[]) {
  const env = virtualEnv()
  const passed: number[] = []
  const host: ShardHost = {
    busy: () => new Set(),
    taken: async (shard) => void passed.push(shard),
    hinted: () => {},
    release: async (shard) => {
      passed.push(-shard)
      return []
    },
  }
  const ownershipAge = new ShardOwnershipAge({ env, shards: 1, node: {
    self,
    status: () => ({ member: self, view, leaving: [], shards: [] }),
    askMember: async ({ id }) => {
      if (id === 'silent') return await new Promise(() => {})
      if (id === 'other') throw new Error('it went')
      return [[5, 7]]
    },
  } })
  return { env, ownershipAge, passed, watched: ownershipAge.watched(host) }
}

describe('a new counter', () => {
  it('asks all members, and gets undefined for those that fail or take too long', async () => {
    const { env, ownershipAge, watched } = ownershipAgeOf(self, other, silent)
    watched.taken(0, [])
    const asked = ownershipAge.askDoors(question, intervalMs)
    await new Promise(setImmediate)
    env.advance(2_000)
    expect(await asked).toEqual([[[5, 7]], undefined, undefined])
  })

  it('asks nobody if its shard has been here for longer than its interval', async () => {
    const { env, ownershipAge, watched } = ownershipAgeOf(self)
    watched.taken(0, [])
    env.advance(intervalMs)
    expect(await ownershipAge.askDoors(question, intervalMs)).toEqual([[[5, 7]]])
    env.advance(1)
    expect(await ownershipAge.askDoors(question, intervalMs)).toEqual([])
    watched.taken(0, [])
    expect(await ownershipAge.askDoors(question, intervalMs)).toEqual([[[5, 7]]])
  })
})

it('The host of the shards is still called.', async () => {
  const { watched, passed } = ownershipAgeOf(self)
  watched.taken(3, [])
  await watched.release(3)
  expect(passed).toEqual([3, -3])
})

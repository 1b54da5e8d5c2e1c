/** Where a thread lives: as this member knows it, and as the owner says. */

import { describe, expect, it } from 'vitest'
import { actorKeyText, shardOf } from '../../../cluster/index.ts'
import type { ActorKey, Member, Owner } from '../../../cluster/index.ts'
import { activityService } from '../../../src/server/backends/actor-activity.ts'
import { threadPlace } from '../../../src/server/thread-place.ts'
import { virtualEnv } from '../../support/env.ts'

const self = { id: 'self', address: 'here:1' }
const other = { id: 'other', address: 'there:2' }
const shards = 16
const shard = shardOf(actorKeyText({ kind: 'thread', tenant: 't', id: 'x' }), shards)

function placeWith(owner: Owner | undefined, askMember: (member: Member) => Promise<unknown>,
  isHere = false) {
  const env = virtualEnv()
  const asked: ActorKey[] = []
  const ownership = { shards, self, ownerOf: (of: number) => of === shard ? owner : undefined,
    changed: () => new Promise<void>(() => {}), learn: () => {}, doubt: () => {} }
  const activity = activityService({ has: (key) => {
    asked.push(key)
    return isHere
  } })
  const place = threadPlace({ env, backend: { ownership, askMember }, activity }, 't', 'x')
  return { env, place, asked }
}

const never = () => new Promise(() => {})

describe('the place of a thread', () => {
  it('is here, and this member says whether it is in memory', async () => {
    for (const isHere of [true, false]) {
      const { place, asked } = placeWith({ member: self, epoch: 3 }, never, isHere)
      expect(await place)
        .toEqual({ member: 'self', address: 'here:1', shard, epoch: 3, active: isHere })
      expect(asked).toEqual([{ kind: 'thread', tenant: 't', id: 'x' }])
    }
  })

  it('is another member, which says whether it is in memory there', async () => {
    const { place, asked } = placeWith({ member: other, epoch: 9 },
      async ({ id }) => id === 'other')
    expect(await place)
      .toEqual({ member: 'other', address: 'there:2', shard, epoch: 9, active: true })
    expect(asked).toEqual([])
  })

  it('is known also if its owner fails, or does not answer in time', async () => {
    const failing = placeWith({ member: other, epoch: 9 }, async () => {
      throw new Error('gone')
    })
    expect(await failing.place).toMatchObject({ member: 'other', active: false })
    const silent = placeWith({ member: other, epoch: 9 }, never)
    await silent.env.advance(500)
    expect(await silent.place).toMatchObject({ member: 'other', active: false })
  })

  it('is not known while nobody owns it', async () => {
    await expect(placeWith(undefined, never).place).rejects.toMatchObject({ code: 'unavailable' })
  })
})

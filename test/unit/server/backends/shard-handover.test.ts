/** What is loaded and unloaded with a shard: its actors, and its rows in the index. */

import { describe, expect, it } from 'vitest'

import { actorKeyText, shardOf } from '../../../../cluster/index.ts'
import type { ActorKey } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import type { HostedActors } from '../../../../src/server/backends/backend.ts'
import { shardHandover } from '../../../../src/server/backends/shard-handover.ts'
import { virtualEnv } from '../../../support/env.ts'

const shards = 8
const keyOf = (id: string): ActorKey => ({ kind: 'thread', tenant: 'one', id })
const shardOfThread = (id: string) => shardOf(actorKeyText(keyOf(id)), shards)

/** A member that owns all shards, with actors in some; its first `failures` loads fail. */
function house(alive: readonly string[] = [], failures = 0, marked: readonly string[] = []) {
  const env = virtualEnv()
  const story: string[] = []
  const owned = new Set(Array.from({ length: shards }, (_, shard) => shard))
  let failed = 0
  const wakeTimes: number[] = []
  const opening = Promise.withResolvers<void>()
  if (marked.length === 0) opening.resolve()
  const activations = {
    occupied: () => alive.map(keyOf),
    release: (groupOf: (key: ActorKey) => number | undefined) => {
      story.push('looked for who lives there')
      const groups = Map.groupBy(alive.map(keyOf), groupOf)
      groups.delete(undefined)
      return new Map([...groups].map(([shard, keys]) => [shard, Promise.resolve(keys)]))
    },
  } as unknown as HostedActors['activations']
  const host = shardHandover({
    env,
    shards,
    owns: (shard) => owned.has(shard),
    actors: {
      activations,
      releaseMs: 1_000,
      recentOf: () => [],
      services: [],
      wakeAt: (atMs) => wakeTimes.push(atMs),
      opened: async (threads) => {
        for (const { threadId } of threads) story.push(`${threadId} is opened`)
        await opening.promise
      },
      wake: async (threads) => {
        for (const { threadId } of threads) story.push(`${threadId} is woken`)
      },
    },
    store: {
      release: async (shard) => void story.push(`${shard} goes`),
      index: {
        answer: () => Promise.reject(new Error('nobody asks')),
        load: async (shard, opened) => {
          if (failed++ < failures) throw new HeddleError('unavailable')
          story.push(`${shard} is read`)
          if (marked.length > 0) {
            await opened?.(marked.map((threadId) => ({ tenant: 'one', threadId })))
          }
          if (marked.length > 0) story.push(`${shard} is found`)
          return [{ tenant: 'one', threadId: `left in ${shard}` }]
        },
        unload: () => {},
        due: async () => [],
        dueCrons: async () => [],
      },
    },
  })
  const pass = async (ms: number) => {
    env.advance(ms)
    for (let turn = 0; turn < 8; turn++) await Promise.resolve()
  }
  return { host, story, owned, pass, wakeTimes, opening }
}

describe('shards that are released', () => {
  it('are handled together, and each returns its occupied actors', async () => {
    const { host, story } = house(['a', 'b'])
    const [a, b] = [shardOfThread('a'), shardOfThread('b')]
    const empty = [0, 1, 2].find((shard) => shard !== a && shard !== b)!
    expect(host.busy()).toEqual(new Set([a, b]))
    const inProgress = await Promise.all([a, b, empty].map((shard) => host.release(shard)))
    expect(a).not.toBe(b)
    expect(inProgress).toEqual([[keyOf('a')], [keyOf('b')], []])
    expect(story.toSorted()).toEqual(
      [...[a, b, empty].map((shard) => `${shard} goes`), 'looked for who lives there'].toSorted(),
    )
    await host.release(a)
    expect(story.filter((line) => line.startsWith('looked'))).toHaveLength(2)
  })
})

describe('a shard that was taken', () => {
  it('is loaded at once if its occupied actors are not known', async () => {
    const { host, story, pass, wakeTimes } = house()
    host.taken(3, undefined)
    await pass(0)
    expect(story).toEqual(['3 is read', 'left in 3 is woken'])
    // Threads that sleep there and are due.
    expect(wakeTimes).toEqual([0])
  })

  it('is loaded later if its last owner named occupied actors, which wake at once', async () => {
    const { host, story, pass } = house()
    host.taken(3, [keyOf('a'), { ...keyOf('b'), kind: 'assistant' }])
    await pass(200)
    expect(story).toEqual(['a is woken'])
    await pass(100)
    expect(story).toEqual(['a is woken', '3 is read', 'left in 3 is woken'])
  })

  it('is loaded again after a failure, unless it was lost or taken again', async () => {
    const { host, story, owned, pass } = house([], 3)
    host.taken(1, undefined)
    host.taken(2, undefined)
    host.taken(3, undefined)
    await pass(0)
    owned.delete(2)
    host.taken(3, undefined)
    await pass(0)
    expect(story).toEqual(['3 is read', 'left in 3 is woken'])
    await pass(1_000)
    expect(story.slice(2)).toEqual(['1 is read', 'left in 1 is woken'])
    await pass(10_000)
    expect(story).toHaveLength(4)
  })

  it('is found when its marked threads were opened, and not if it left meanwhile', async () => {
    for (const isLeft of [false, true]) {
      const { host, story, owned, pass, opening } = house([], 0, ['m'])
      host.taken(1, undefined)
      await pass(0)
      if (isLeft) {
        owned.delete(1)
        opening.reject(new HeddleError('not_owner'))
      } else opening.resolve()
      await pass(0)
      const found = isLeft ? [] : ['1 is found', 'left in 1 is woken']
      expect(story).toEqual(['1 is read', 'm is opened', ...found])
    }
  })
})

/** What lives in the shards of this member: comes when one is taken, and goes when it moves. */

import { actorKeyText, shardOf } from '../../cluster/index.ts'
import type { ActorKey, Env, ShardHost } from '../../cluster/index.ts'
import type { CassandraStore } from '../store/cassandra/index.ts'
import type { Tenants } from './ground.ts'
import { putOff } from './put-off.ts'

export interface TenancyOptions {
  readonly env: Env
  readonly shards: number
  readonly store: Pick<CassandraStore, 'index' | 'letGo'>
  readonly tenants: Tenants
  owns(shard: number): boolean
}

/** Shards that go together. */
interface Leaving {
  readonly going: Set<number>
  /** By shard, of those in which anybody lives: when all have gone, in which something goes on. */
  readonly gone: Promise<ReadonlyMap<number, Promise<ActorKey[]>>>
}

const loadAgainMs = 1_000
/**
 * The rows of shards that were given are loaded when no other one was taken for a while: until
 * then it is the runs that move with them that need the store, and the processor. Searches wait so
 * much longer.
 */
const [calmMs, latestMs] = [250, 5_000]

export function shardTenancy({ env, shards, store, tenants, owns }: TenancyOptions): ShardHost {
  const { activations, wake, letGoMs } = tenants
  /** The last time that each shard was taken: what failed is not tried again for one before. */
  const takings = new Map<number, symbol>()
  /** Those that go in one tick: who lives in them is looked for once. */
  let leaving: Leaving | undefined

  const whenCalm = putOff({ env, calmMs, latestMs })
  const homeOf = (key: ActorKey) => shardOf(actorKeyText(key), shards)
  /** Whoever waits for these does not wait for the rows of all others. */
  const told = (goingOn: readonly ActorKey[]) => {
    const threads = goingOn.filter(({ kind }) => kind === 'thread')
    void wake(threads.map(({ tenant, id }) => ({ tenant, threadId: id })))
  }
  const load = (shard: number, taking: symbol) => {
    const isMine = () => owns(shard) && takings.get(shard) === taking
    if (!isMine()) return
    store.index.load(shard).then((unfinished) => isMine() ? wake(unfinished) : undefined)
      .catch((error: unknown) => {
        if (!isMine()) return
        env.log.warn('The rows of a shard cannot be read yet.', { shard, error })
        env.after(loadAgainMs, () => load(shard, taking))
      })
  }
  const leaveTogether = (): Leaving => {
    const going = new Set<number>()
    const gone = Promise.resolve().then(() => {
      leaving = undefined
      const deadline = new AbortController()
      env.after(letGoMs, () => deadline.abort())
      return activations.letGo((key) => {
        const home = homeOf(key)
        return going.has(home) ? home : undefined
      }, deadline.signal)
    })
    return { going, gone }
  }
  return {
    busy: () => new Set(activations.occupied().map(homeOf)),
    taken: (shard, goingOn) => {
      const taking = Symbol('taking')
      takings.set(shard, taking)
      // Its last owner died: only its rows tell what goes on in it.
      if (goingOn === undefined) return load(shard, taking)
      told(goingOn)
      whenCalm(() => load(shard, taking))
    },
    told,
    letGo: async (shard) => {
      leaving ??= leaveTogether()
      leaving.going.add(shard)
      const tenantsOf = await leaving.gone
      const goingOn = await tenantsOf.get(shard)
      store.letGo(shard)
      return goingOn ?? []
    },
  }
}

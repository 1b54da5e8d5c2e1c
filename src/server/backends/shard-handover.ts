/**
 * Loads rows and actors of a shard when it is taken, and releases them when it moves.
 *
 * Rule: [drain].
 */

import { actorKeyText, backoffMs, debounce, shardOf } from '../../../cluster/index.ts'
import type { ActorKey, Env, ShardHost } from '../../../cluster/index.ts'
import type { CassandraStore } from '../../store/cassandra/index.ts'
import type { HostedActors } from './backend.ts'

/** Rows and actors of the shards of one member. `shards` is the number of all shards. */
export interface ShardHandoverOptions {
  readonly env: Env
  readonly shards: number
  readonly store: Pick<CassandraStore, 'index' | 'release'>
  readonly actors: HostedActors
  owns(shard: number): boolean
}

/** Shards that are released together. */
interface Leaving {
  readonly going: Set<number>
  /** By shard, if any actor lives in it: resolves when all have gone, with those that were busy. */
  readonly gone: Promise<ReadonlyMap<number, Promise<ActorKey[]>>>
}

const loadAgain = { firstMs: 1_000, longestMs: 1_000 }
/**
 * Quiet time before rows of shards that were handed over are loaded, and the longest wait. Until
 * then, the runs that move with the shards need the store and the processor. Searches wait longer
 * for that.
 */
const [calmMs, latestMs] = [250, 5_000]

/** Host of the shards that this member takes and gives back. */
export function shardHandover(
  { env, shards, store, actors, owns }: ShardHandoverOptions,
): ShardHost {
  const { activations, wake, opened, wakeAt, releaseMs } = actors
  /** Identifies the last time that each shard was taken. Loads for earlier times are given up. */
  const takings = new Map<number, symbol>()
  /** Shards that are released in one tick. Their actors are looked for once. */
  let leaving: Leaving | undefined

  const whenCalm = debounce({ env, calmMs, latestMs })
  const homeOf = (key: ActorKey) => shardOf(actorKeyText(key), shards)
  /** Wakes these threads, whose clients need not wait until all rows are loaded. */
  const hinted = (inProgress: readonly ActorKey[]) => {
    const threads = inProgress.filter(({ kind }) => kind === 'thread')
    void wake(threads.map(({ tenant, id }) => ({ tenant, threadId: id })))
  }
  const load = (shard: number, taking: symbol) => {
    const isMine = () => owns(shard) && takings.get(shard) === taking
    if (!isMine()) return
    store.index.load(shard, opened).then((unfinished) => {
      if (!isMine()) return undefined
      wakeAt(0)
      return wake(unfinished)
    })
      .catch((error: unknown) => {
        if (!isMine()) return
        env.log.warn('The rows of a shard cannot be read yet.', { shard, error })
        env.after(backoffMs(loadAgain, 1, env.random()), () => load(shard, taking))
      })
  }
  const leaveTogether = (): Leaving => {
    const going = new Set<number>()
    const gone = Promise.resolve().then(() => {
      leaving = undefined
      const deadline = new AbortController()
      env.after(releaseMs, () => deadline.abort())
      return activations.release((key) => {
        const home = homeOf(key)
        return going.has(home) ? home : undefined
      }, deadline.signal)
    })
    return { going, gone }
  }
  return {
    busy: () => new Set(activations.occupied().map(homeOf)),
    taken: (shard, inProgress) => {
      const taking = Symbol('taking')
      takings.set(shard, taking)
      // Its last owner died, so only its rows tell which threads are unfinished.
      if (inProgress === undefined) return load(shard, taking)
      hinted(inProgress)
      whenCalm(() => load(shard, taking))
    },
    hinted,
    release: async (shard) => {
      leaving ??= leaveTogether()
      leaving.going.add(shard)
      const actorsOf = await leaving.gone
      const inProgress = await actorsOf.get(shard)
      store.release(shard)
      return inProgress ?? []
    },
  }
}

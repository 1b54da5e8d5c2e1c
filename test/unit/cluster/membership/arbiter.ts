/**
 * The arbiter of sessions and shards as a test plays it: slow, and sometimes unclear.
 *
 * The outcome of a compare-and-set may be unknown. It was then done, or it was not, or it waits for
 * the next one on the same row, which may complete it. The end of a session becomes visible in two
 * steps: until it is proven, a plain read may miss it.
 */

import fc from 'fast-check'

import type { Heartbeat, HeartbeatPort, ClaimChange, ClaimOutcome, Member, SessionPort,
  SessionState, ShardClaim, ShardPort } from '../../../../cluster/index.ts'
import type { VirtualEnv } from '../../../support/env.ts'

/** What a test decides at each operation. */
export interface Fate {
  /** Resolves when others have had their chance. */
  pause(): Promise<void>
  /** A coin, for whatever may go either way. */
  flip(): boolean
  /** What becomes of a compare and set, and whether the caller learns it. */
  outcome(): 'clear' | 'lost' | 'done unheard' | 'lingers'
}

/** Every operation is done at once, with a clear outcome. */
export const plain: Fate = { pause: async () => {}, flip: () => true, outcome: () => 'clear' }

/** Passes time in which promises, but no timers, continue. */
export async function settle(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

/** A random fate, and `play`, which runs operations in a random order until `work` is done. */
export const playing = fc.record({
  scheduler: fc.scheduler(),
  flips: fc.infiniteStream(fc.boolean()),
  outcomes: fc.array(fc.constantFrom('clear', 'lost', 'done unheard', 'lingers'), {
    maxLength: 14,
  }),
}).map(({ scheduler, flips, outcomes }) => ({
  fate: (): Fate => {
    const left = outcomes.values()
    return {
      pause: () => scheduler.schedule(Promise.resolve()),
      flip: () => flips.next().value!,
      outcome: () => left.next().value ?? 'clear',
    }
  },
  play: async <T>(env: VirtualEnv, work: Promise<T>): Promise<T> => {
    const done = { yet: false }
    work.finally(() => {
      done.yet = true
    }).catch(() => {})
    for (await settle(); !done.yet; await settle()) {
      if (scheduler.count() > 0) await scheduler.waitNext(1)
      else env.advance(50)
    }
    return work
  },
}))

interface SessionRow {
  end: 'fenced' | 'left' | undefined
  proven: boolean
}

export class Arbiter {
  /** Each claim that came through, in order. */
  readonly history: ShardClaim[] = []
  /** Claims that came through from a session that was not proven to have ended. */
  readonly violations: ClaimChange[] = []
  readonly #fate: Fate
  readonly #sessions = new Map<string, SessionRow>()
  readonly #owners = new Map<number, ShardClaim>()
  readonly #lingering = new Map<number, ClaimChange>()
  readonly #heartbeats = new Map<string, Heartbeat>()

  constructor(fate: Fate) {
    this.#fate = fate
  }

  /** Adds a member that owns all shards in this epoch. */
  plant({ id, address }: Member, shards: number, epoch: number): void {
    this.#sessions.set(id, { end: undefined, proven: false })
    for (let shard = 0; shard < shards; shard++) {
      this.#owners.set(shard, { shard, epoch, session: id, address })
    }
  }

  /** As if another member began to fence it and died before that was done. */
  halfEnd(session: string): void {
    this.#sessions.get(session)!.end = 'fenced'
  }

  /** As if another member fenced it now, or it left. */
  end(session: string, end: 'fenced' | 'left' = 'fenced'): void {
    this.#sessions.set(session, { end, proven: true })
  }

  alive(session: string): boolean {
    const row = this.#sessions.get(session)
    return row !== undefined && row.end === undefined
  }

  owner(shard: number): ShardClaim | undefined {
    return this.#owners.get(shard)
  }

  readonly sessions = {
    join: async ({ id }: Member) => {
      await this.#fate.pause()
      this.#sessions.set(id, { end: undefined, proven: false })
      await this.#fate.pause()
    },
    state: async (session: string) => {
      await this.#fate.pause()
      const row = this.#sessions.get(session)
      const state: SessionState | undefined = row && (row.proven
        ? row.end
        : row.end !== undefined && this.#fate.flip()
        ? row.end
        : 'alive')
      await this.#fate.pause()
      return state
    },
    fence: async (session: string) => {
      await this.#fate.pause()
      const row = this.#sessions.get(session) ?? { end: undefined, proven: false }
      this.#sessions.set(session, row)
      row.end ??= 'fenced'
      await this.#fate.pause()
      row.proven = true
      await this.#fate.pause()
      return row.end
    },
    leave: async (session: string) => {
      await this.#fate.pause()
      const row = this.#sessions.get(session)!
      row.end ??= 'left'
      await this.#fate.pause()
      row.proven = true
    },
  } satisfies SessionPort

  readonly shardOwners: ShardPort = {
    owners: async () => {
      await this.#fate.pause()
      const owners = [...this.#owners.values()]
      await this.#fate.pause()
      return owners
    },
    owner: async (shard) => {
      await this.#fate.pause()
      return this.#owners.get(shard)
    },
    claim: async (claim) => {
      await this.#fate.pause()
      const answer = this.#swap(claim)
      await this.#fate.pause()
      return answer
    },
  }

  readonly heartbeats: HeartbeatPort = {
    heartbeat: async (heartbeat) => {
      await this.#fate.pause()
      this.#heartbeats.set(heartbeat.id, heartbeat)
    },
    heartbeats: async () => {
      await this.#fate.pause()
      return [...this.#heartbeats.values()]
    },
    forget: async (member) => {
      await this.#fate.pause()
      this.#heartbeats.delete(member)
    },
  }

  #swap(claim: ClaimChange): ClaimOutcome {
    const { shard } = claim.to
    const before = this.#lingering.get(shard)
    this.#lingering.delete(shard)
    if (before !== undefined && this.#fate.flip()) this.#commit(before)
    const found = this.#owners.get(shard)
    if (!sameOwner(claim.from, found)) return { kind: 'refused', found }
    const outcome = this.#fate.outcome()
    if (outcome === 'clear' || outcome === 'done unheard') this.#commit(claim)
    if (outcome === 'lingers') this.#lingering.set(shard, claim)
    return { kind: outcome === 'clear' ? 'claimed' : 'unknown' }
  }

  #commit(claim: ClaimChange): void {
    const { from, to } = claim
    const ended = from === undefined || from.session === null || to.session === null ||
      from.session === to.session || this.#sessions.get(from.session)?.proven
    if (!ended) this.violations.push(claim)
    this.#owners.set(to.shard, to)
    this.history.push(to)
  }
}

function sameOwner(a: ShardClaim | undefined, b: ShardClaim | undefined): boolean {
  return a?.epoch === b?.epoch && a?.session === b?.session && a?.address === b?.address
}

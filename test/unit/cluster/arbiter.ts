/**
 * The one arbiter of sessions and shards as a test plays it: slow, and not always clear.
 *
 * A compare and set may answer that its outcome is unknown; then it was done, was not, or lingers
 * until the next one on the same row, which may complete it. The end of a session becomes known in
 * two steps: until it is proven, a plain read may miss it.
 */

import type { Claim, ClaimOutcome, Member, SessionPort, SessionState, ShardOwner, ShardPort }
  from '../../../cluster/index.ts'

/** What a test decides, each time anew. */
export interface Fate {
  /** Ends when others have had their chance. */
  pause(): Promise<void>
  /** A coin, for what is left open. */
  flip(): boolean
  /** What becomes of a compare and set, and of what is known about it. */
  outcome(): 'clear' | 'lost' | 'done unheard' | 'lingers'
}

interface SessionRow {
  end: 'fenced' | 'left' | undefined
  proven: boolean
}

export class Arbiter {
  /** Each claim that came through, in order. */
  readonly history: ShardOwner[] = []
  /** Claims that came through from a session that was not proven to be over. */
  readonly violations: Claim[] = []
  readonly #fate: Fate
  readonly #sessions = new Map<string, SessionRow>()
  readonly #owners = new Map<number, ShardOwner>()
  readonly #lingering = new Map<number, Claim>()

  constructor(fate: Fate) {
    this.#fate = fate
  }

  /** A member that owned all shards in its time. */
  plant({ id, address }: Member, shards: number, epoch: number): void {
    this.#sessions.set(id, { end: undefined, proven: false })
    for (let shard = 0; shard < shards; shard++) {
      this.#owners.set(shard, { shard, epoch, session: id, address })
    }
  }

  /** Somebody began to fence it and did not live to see it done. */
  halfEnd(session: string): void {
    this.#sessions.get(session)!.end = 'fenced'
  }

  /** As if another one fenced it in this moment. */
  end(session: string, end: 'fenced' | 'left' = 'fenced'): void {
    this.#sessions.set(session, { end, proven: true })
  }

  alive(session: string): boolean {
    const row = this.#sessions.get(session)
    return row !== undefined && row.end === undefined
  }

  owner(shard: number): ShardOwner | undefined {
    return this.#owners.get(shard)
  }

  readonly sessions: SessionPort = {
    join: async ({ id }) => {
      await this.#fate.pause()
      this.#sessions.set(id, { end: undefined, proven: false })
      await this.#fate.pause()
    },
    state: async (session) => {
      await this.#fate.pause()
      const row = this.#sessions.get(session)
      const state: SessionState | undefined = row && (row.proven ? row.end
        : row.end !== undefined && this.#fate.flip() ? row.end : 'alive')
      await this.#fate.pause()
      return state
    },
    fence: async (session) => {
      await this.#fate.pause()
      const row = this.#sessions.get(session) ?? { end: undefined, proven: false }
      this.#sessions.set(session, row)
      row.end ??= 'fenced'
      await this.#fate.pause()
      row.proven = true
      await this.#fate.pause()
      return row.end
    },
    leave: async (session) => {
      await this.#fate.pause()
      const row = this.#sessions.get(session)!
      row.end ??= 'left'
      await this.#fate.pause()
      row.proven = true
    },
  }

  readonly shardOwners: ShardPort = {
    owners: async () => {
      await this.#fate.pause()
      const owners = [...this.#owners.values()]
      await this.#fate.pause()
      return owners
    },
    claim: async (claim) => {
      await this.#fate.pause()
      const answer = this.#swap(claim)
      await this.#fate.pause()
      return answer
    },
  }

  #swap(claim: Claim): ClaimOutcome {
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

  #commit(claim: Claim): void {
    const { from, to } = claim
    const over = from === undefined || from.session === null || from.session === to.session
      || this.#sessions.get(from.session)?.proven
    if (!over) this.violations.push(claim)
    this.#owners.set(to.shard, to)
    this.history.push(to)
  }
}

function sameOwner(a: ShardOwner | undefined, b: ShardOwner | undefined): boolean {
  return a?.epoch === b?.epoch && a?.session === b?.session && a?.address === b?.address
}

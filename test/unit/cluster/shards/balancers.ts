/** Keepers of shards over one arbiter, for tests. */

import { ShardBalancer } from '../../../../cluster/index.ts'
import type { ActorKey, Member, ShardClaim, ShardPort } from '../../../../cluster/index.ts'
import { virtualEnv } from '../../../support/env.ts'
import type { VirtualEnv } from '../../../support/env.ts'
import { Arbiter, settle } from '../membership/arbiter.ts'
import type { Fate } from '../membership/arbiter.ts'

export const shards = 6

export interface Balancer {
  readonly self: Member
  readonly balancer: ShardBalancer
  /** What its host was called for, in order: `<shard> taken` or `<shard> let go`. */
  readonly seen: string[]
  /** The actors that it knows of are occupied. */
  readonly received: ActorKey[]
  /** Sets the staying members as it sees them. */
  see(members: readonly Member[]): void
  /** Ends each `release` that waits. */
  release: () => void
  start(): Promise<void>
}

/** The members of one cluster, and which of them count as alive. */
export class House {
  readonly env: VirtualEnv = virtualEnv()
  readonly arbiter: Arbiter
  readonly balancers: Balancer[] = []
  readonly living = new Set<string>()
  /** Shards that were given back before they were released: must stay empty. */
  readonly early: string[] = []
  /** Whether an announcement arrives at the other members. */
  readonly received: () => boolean
  /** Whether `release` fails. */
  fails = false
  /** Whether `release` waits for `release`. */
  holds = false
  /** Shards with an occupied actor, wherever they are. */
  busy: ReadonlySet<number> = new Set()

  constructor(fate: Fate, received: () => boolean = () => true) {
    this.arbiter = new Arbiter(fate)
    this.received = received
  }

  /** A member whose session is open and whose balancer was not started. */
  async join(id: string, changes: Partial<ShardPort> = {}): Promise<Balancer> {
    const self: Member = { id, address: `${id}:1` }
    await this.arbiter.sessions.join(self)
    this.living.add(id)
    const seen: string[] = []
    let view = { self, members: [self] as readonly Member[] }
    const listeners: (() => void)[] = []
    const { env, arbiter } = this
    const claim: ShardPort['claim'] = (change) => {
      const { shard, session } = change.to
      const last = seen.findLast((line) => line.startsWith(`${shard} `))
      if (session === null && last !== `${shard} let go`) this.early.push(`${id} ${shard}`)
      return arbiter.shardOwners.claim(change)
    }
    const balancer: ShardBalancer = new ShardBalancer({
      env,
      self,
      shards,
      shardOwners: { ...arbiter.shardOwners, claim, ...changes },
      detector: {
        get view() {
          return view
        },
        hasEnded: (member) => !this.living.has(member),
        sees: (member) => this.living.has(member),
        onChange: (listener) => listeners.push(listener),
        doubt: () => {},
        proveEnded: async (member) => {
          if (this.living.has(member.id)) return false
          await arbiter.sessions.fence(member.id)
          return true
        },
      },
      announce: (owners) => this.#announce(id, owners),
    })
    const made: Balancer = {
      self,
      balancer,
      seen,
      received: [],
      release: () => {},
      see: (members) => {
        view = { self, members }
        for (const listener of listeners) listener()
      },
      start: () =>
        balancer.look().then(() =>
          balancer.start({
            busy: () => this.busy,
            taken: (shard, inProgress) => {
              seen.push(`${shard} taken`)
              made.received.push(...inProgress ?? [])
            },
            hinted: (inProgress) => void made.received.push(...inProgress),
            release: async (shard) => {
              if (this.fails) throw new Error('It does not come to rest.')
              if (this.holds) {
                const before = made.release
                await new Promise<void>((resolve) => {
                  made.release = () => {
                    before()
                    resolve()
                  }
                })
              }
              seen.push(`${shard} let go`)
              return this.busy.has(shard) ? [{ tenant: 'one', kind: 'thread', id: `${shard}` }] : []
            },
          })
        ),
    }
    this.balancers.push(made)
    return made
  }

  /** Lets all live members see all staying members. */
  seeAll(leaving: ReadonlySet<string> = new Set()): readonly Member[] {
    const staying = this.balancers.map(({ self }) => self)
      .filter(({ id }) => this.living.has(id) && !leaving.has(id))
    for (const { self, see } of this.balancers) if (this.living.has(self.id)) see(staying)
    return staying
  }

  owned({ self, balancer }: Balancer): number[] {
    return Array.from({ length: shards }, (_, shard) => shard)
      .filter((shard) => balancer.ownerOf(shard)?.member.id === self.id)
  }

  /** The members that consider themselves owner of the shard, and have a live session. */
  ownersOf(shard: number): string[] {
    return this.balancers.filter((each) =>
      this.arbiter.alive(each.self.id) &&
      this.owned(each).includes(shard)
    ).map(({ self }) => self.id)
  }

  async confirm(ms: number, look: () => void = () => {}): Promise<void> {
    for (let left = ms; left > 0; left -= 5) {
      this.env.advance(5)
      await settle()
      look()
    }
  }

  #announce(from: string, owners: readonly ShardClaim[]): void {
    for (const { self, balancer } of this.balancers) {
      if (self.id !== from && this.received()) balancer.handle(owners)
    }
  }
}

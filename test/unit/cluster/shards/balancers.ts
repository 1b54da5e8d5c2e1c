/** Keepers of shards over one arbiter, for tests. */

import { ShardKeeper } from '../../../../cluster/index.ts'
import type { ActorKey, Member, ShardOwner, ShardPort } from '../../../../cluster/index.ts'
import { virtualEnv } from '../../../support/env.ts'
import type { VirtualEnv } from '../../../support/env.ts'
import { Arbiter, settle } from '../membership/arbiter.ts'
import type { Fate } from '../membership/arbiter.ts'

export const shards = 6

export interface Keeper {
  readonly self: Member
  readonly keeper: ShardKeeper
  /** What its host was called for, in order: `<shard> taken` or `<shard> let go`. */
  readonly told: string[]
  /** The actors that it was told are occupied. */
  readonly heard: ActorKey[]
  /** Sets the staying members as it sees them. */
  see(members: readonly Member[]): void
  /** Ends each `letGo` that waits. */
  release: () => void
  start(): Promise<void>
}

/** The members of one cluster, and which of them count as alive. */
export class House {
  readonly env: VirtualEnv = virtualEnv()
  readonly arbiter: Arbiter
  readonly keepers: Keeper[] = []
  readonly living = new Set<string>()
  /** Shards that were given back before they were let go: must stay empty. */
  readonly early: string[] = []
  /** Whether an announcement arrives at the other members. */
  readonly heard: () => boolean
  /** Whether `letGo` fails. */
  fails = false
  /** Whether `letGo` waits for `release`. */
  holds = false
  /** Shards with an occupied actor, wherever they are. */
  busy: ReadonlySet<number> = new Set()

  constructor(fate: Fate, heard: () => boolean = () => true) {
    this.arbiter = new Arbiter(fate)
    this.heard = heard
  }

  /** A member whose session is open and whose keeper was not started. */
  async join(id: string, changes: Partial<ShardPort> = {}): Promise<Keeper> {
    const self: Member = { id, address: `${id}:1` }
    await this.arbiter.sessions.join(self)
    this.living.add(id)
    const told: string[] = []
    let view = { self, members: [self] as readonly Member[] }
    const listeners: (() => void)[] = []
    const { env, arbiter } = this
    const claim: ShardPort['claim'] = (change) => {
      const { shard, session } = change.to
      const last = told.findLast((line) => line.startsWith(`${shard} `))
      if (session === null && last !== `${shard} let go`) this.early.push(`${id} ${shard}`)
      return arbiter.shardOwners.claim(change)
    }
    const keeper: ShardKeeper = new ShardKeeper({
      env, self, shards, shardOwners: { ...arbiter.shardOwners, claim, ...changes },
      roster: {
        get view() { return view },
        isOver: (member) => !this.living.has(member),
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
    const made: Keeper = {
      self, keeper, told, heard: [], release: () => {},
      see: (members) => {
        view = { self, members }
        for (const listener of listeners) listener()
      },
      start: () => keeper.look().then(() => keeper.start({
        busy: () => this.busy,
        taken: (shard, goingOn) => {
          told.push(`${shard} taken`)
          made.heard.push(...goingOn ?? [])
        },
        told: (goingOn) => void made.heard.push(...goingOn),
        letGo: async (shard) => {
          if (this.fails) throw new Error('It does not come to rest.')
          if (this.holds) {
            const before = made.release
            await new Promise<void>((resolve) => {
              made.release = () => { before(); resolve() }
            })
          }
          told.push(`${shard} let go`)
          return this.busy.has(shard) ? [{ tenant: 'one', kind: 'thread', id: `${shard}` }] : []
        },
      })),
    }
    this.keepers.push(made)
    return made
  }

  /** Lets all live members see all staying members. */
  seeAll(leaving: ReadonlySet<string> = new Set()): readonly Member[] {
    const staying = this.keepers.map(({ self }) => self)
      .filter(({ id }) => this.living.has(id) && !leaving.has(id))
    for (const { self, see } of this.keepers) if (this.living.has(self.id)) see(staying)
    return staying
  }

  owned({ self, keeper }: Keeper): number[] {
    return Array.from({ length: shards }, (_, shard) => shard)
      .filter((shard) => keeper.ownerOf(shard)?.member.id === self.id)
  }

  /** The members that consider themselves owner of the shard, and have a live session. */
  ownersOf(shard: number): string[] {
    return this.keepers.filter((each) => this.arbiter.alive(each.self.id) &&
      this.owned(each).includes(shard)).map(({ self }) => self.id)
  }

  async pass(ms: number, look: () => void = () => {}): Promise<void> {
    for (let left = ms; left > 0; left -= 5) {
      this.env.advance(5)
      await settle()
      look()
    }
  }

  #announce(from: string, owners: readonly ShardOwner[]): void {
    for (const { self, keeper } of this.keepers) {
      if (self.id !== from && this.heard()) keeper.hear(owners)
    }
  }
}

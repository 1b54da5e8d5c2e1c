/** Members that keep shards over one arbiter, as a test plays them. */

import { ShardKeeper } from '../../../cluster/index.ts'
import type { ActorKey, Member, ShardOwner, ShardPort } from '../../../cluster/index.ts'
import { virtualEnv } from '../../support/env.ts'
import type { VirtualEnv } from '../../support/env.ts'
import { Arbiter, settle } from './arbiter.ts'
import type { Fate } from './arbiter.ts'

export const shards = 6

export interface Keeper {
  readonly self: Member
  readonly keeper: ShardKeeper
  /** What its host was told, in order. */
  readonly told: string[]
  /** The actors of which it was told that something goes on in them. */
  readonly heard: ActorKey[]
  /** Those that stay, as it sees them. */
  see(members: readonly Member[]): void
  /** Ends what `letGo` waits for. */
  release: () => void
  start(): Promise<void>
}

/** Members of one cluster, and who of them is taken for alive. */
export class House {
  readonly env: VirtualEnv = virtualEnv()
  readonly arbiter: Arbiter
  readonly keepers: Keeper[] = []
  readonly living = new Set<string>()
  /** Releases of shards that had not been let go since they were taken. */
  readonly early: string[] = []
  /** Whether an announcement arrives. */
  readonly heard: () => boolean
  /** Whether `letGo` fails. */
  fails = false
  /** Whether `letGo` waits for `release`. */
  holds = false
  /** Shards in which something goes on, wherever they are. */
  busy: ReadonlySet<number> = new Set()

  constructor(fate: Fate, heard: () => boolean = () => true) {
    this.arbiter = new Arbiter(fate)
    this.heard = heard
  }

  /** Its session is open; it has not begun. */
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
            const { release } = made
            await new Promise<void>((resolve) => {
              made.release = () => [release, resolve].forEach((each) => each())
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

  /** Everybody that lives sees everybody that stays. */
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

  /** Who believes to own the shard, and has a session. */
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

/**
 * The shards that this member owns, and what it knows of the owners of all others.
 *
 *   1. A shard belongs where it is placed among the members that stay. Who is placed one takes it
 *      as soon as nobody who lives owns it.
 *   2. Whoever owns one that is placed elsewhere gives it back: first nothing new of it is begun,
 *      then what is under way ends, and only then is it free. It says so to the others at once.
 *   3. What is known of other owners are hints; each is asked, and says himself whether he is one.
 */

import { atMost } from './at-most.ts'
import { claimShard, giveBackShard } from './claim.ts'
import type { Env } from './env.ts'
import type { Member } from './member.ts'
import type { Owner, Ownership } from './ownership.ts'
import { placeShard } from './placement.ts'
import type { Roster } from './roster.ts'
import type { ShardOwner, ShardPort } from './shard-port.ts'

export interface ShardKeeperOptions {
  readonly env: Env
  readonly self: Member
  readonly shards: number
  readonly shardOwners: ShardPort
  readonly roster: Pick<Roster, 'view' | 'isOver' | 'onChange' | 'doubt' | 'proveEnded'>
  /** Tells all other members of owners that changed. What gets lost they find out themselves. */
  announce(owners: readonly ShardOwner[]): void
}

/** What lives in the shards of this member. */
export interface ShardHost {
  /** The shard is this member's from now on. */
  taken(shard: number): void
  /** Nothing new of it is asked for. Resolves when nothing of it is under way here. */
  letGo(shard: number): Promise<void>
}

/**
 * free    another member owns it, or nobody
 * owned   it is this member's
 * giving  it is this member's still, and about to be nobody's
 */
type Hold = 'free' | 'owned' | 'giving'

/** Compare-and-sets under way at once. */
const changesAtOnce = 16
/** A shard that another one still has is tried again after so long, if nobody says it is free. */
const tryAgainMs = 500
/** Owners that somebody waits for are read again after so long. */
const readAgainMs = 150
/** What changed in so short a time is told together. */
const tellTogetherMs = 5

export class ShardKeeper implements Ownership {
  readonly shards: number
  readonly self: Member
  readonly #options: ShardKeeperOptions
  readonly #known: (ShardOwner | undefined)[]
  readonly #holds: Hold[]
  /** Shards whose owner is to be read again. */
  readonly #doubted = new Set<number>()
  /** Placed here, and another one's when last tried: what became of them may have got lost. */
  readonly #refused = new Set<number>()
  /** A claim of them failed, and may have come through all the same. */
  readonly #unclear = new Set<number>()
  readonly #limited = atMost(changesAtOnce)
  #news: ShardOwner[] = []
  #change = Promise.withResolvers<void>()
  #host: ShardHost | undefined
  /** A pass is under way. */
  #busy = false
  #again = false
  #closed = false
  #stopWaiting: (() => void) | undefined
  #stopReading: (() => void) | undefined

  constructor(options: ShardKeeperOptions) {
    this.#options = options
    this.shards = options.shards
    this.self = options.self
    this.#known = Array.from({ length: options.shards }, () => undefined)
    this.#holds = Array.from({ length: options.shards }, () => 'free')
  }

  /** Of each shard, as far as is known. */
  get known(): readonly (ShardOwner | undefined)[] { return this.#known }

  ownerOf(shard: number): Owner | undefined {
    const owner = this.#known[shard]
    if (owner === undefined || owner.session === null || this.#doubted.has(shard)) return undefined
    const { session: id, address, epoch } = owner
    if (id !== this.self.id) {
      return this.#options.roster.isOver(id) ? undefined : { member: { id, address }, epoch }
    }
    return this.#holds[shard] === 'owned' ? { member: this.self, epoch } : undefined
  }

  changed(): Promise<void> {
    this.#readSoon()
    return this.#change.promise
  }

  learn(shard: number, { member: { id, address }, epoch }: Owner): void {
    this.hear([{ shard, epoch, session: id, address }])
  }

  doubt(shard: number): void {
    const owner = this.#known[shard]
    if (owner === undefined || this.#holds[shard] !== 'free') return
    this.#doubted.add(shard)
    if (owner.session !== null) {
      this.#options.roster.doubt({ id: owner.session, address: owner.address })
    }
  }

  /** What other members announce. */
  hear(owners: readonly ShardOwner[]): void {
    for (const owner of owners) this.#note(owner)
    this.#tell()
    this.#work()
  }

  /**
   * Takes what is placed here, now and after each change of the view. Resolves when of all that is
   * placed here nothing is left that nobody owns. Throws where the store does not answer.
   */
  async start(host: ShardHost): Promise<void> {
    const { shardOwners, roster } = this.#options
    for (const owner of await shardOwners.owners()) this.#note(owner)
    this.#host = host
    this.#busy = true
    await this.#pass()
    this.#busy = false
    roster.onChange(() => {
      this.#tell()
      this.#work()
    })
    this.#work()
  }

  /**
   * Gives everything back, for the roster says that this member leaves. Resolves when nothing is
   * left, or nobody stays who could take it.
   */
  async leave(): Promise<void> {
    const { roster } = this.#options
    this.#work()
    while (roster.view.members.length > 0 &&
      (this.#busy || this.#holds.some((hold) => hold !== 'free'))) await this.#change.promise
  }

  /** Nothing is taken or given any more. */
  close(): void {
    this.#closed = true
    this.#stopWaiting?.()
    this.#stopReading?.()
  }

  /** Never two passes at once; never throws. */
  #work(): void {
    this.#again = true
    if (this.#host !== undefined && !this.#busy) void this.#passes()
  }

  async #passes(): Promise<void> {
    this.#busy = true
    while (this.#again && !this.#closed) {
      this.#again = false
      try {
        await this.#pass()
      } catch (error) {
        this.#options.env.log.warn('Shards could not be taken; they are tried again.', { error })
        this.#workLater()
      }
    }
    this.#busy = false
    this.#tell()
  }

  async #pass(): Promise<void> {
    const { members } = this.#options.roster.view
    const taking: Promise<void>[] = []
    for (const [shard, hold] of this.#holds.entries()) {
      const place = members.length > 0 ? placeShard(shard, members) : undefined
      if (hold === 'free' && (place?.id === this.self.id || this.#unclear.has(shard))) {
        taking.push(this.#limited(() => this.#take(shard)))
      } else if (hold === 'owned' && place !== undefined && place.id !== this.self.id) {
        void this.#give(shard)
      }
    }
    await Promise.all(taking)
  }

  async #take(shard: number): Promise<void> {
    const { roster } = this.#options
    if (this.#refused.delete(shard)) await this.#readOne(shard)
    const again = this.#unclear.has(shard)
    this.#unclear.add(shard)
    const owner = await claimShard(
      { ...this.#options, ended: (other) => roster.proveEnded(other) }, shard, this.#known[shard])
    this.#unclear.delete(shard)
    this.#note(owner)
    if (owner.session !== this.self.id) {
      this.#refused.add(shard)
      return this.#workLater()
    }
    this.#holds[shard] = 'owned'
    // Meanwhile its place may be another one.
    if (again) this.#work()
    this.#announce(owner)
    this.#host!.taken(shard)
    this.#tell()
  }

  /** Never throws. */
  async #give(shard: number): Promise<void> {
    const owned = this.#known[shard]!
    this.#holds[shard] = 'giving'
    this.#tell()
    await this.#host!.letGo(shard)
    // Where another one owns it this session is over: that owner's shard is not to be given.
    const own = owned.session === this.self.id
    const owner = own ? await this.#limited(() => giveBackShard(this.#options, owned)) : owned
    this.#holds[shard] = 'free'
    this.#note(owner)
    if (own) this.#announce(owner)
    this.#tell()
    // The view may have changed meanwhile, back to where the shard was.
    this.#work()
  }

  /** What is newer than what is known. A shard is given back in the epoch in which it was owned. */
  #note(owner: ShardOwner): void {
    const known = this.#known[owner.shard]
    const own = this.#holds[owner.shard] !== 'free'
    const newer = known === undefined || owner.epoch > known.epoch ||
      (owner.epoch === known.epoch && owner.session === null && !own)
    if (newer) this.#known[owner.shard] = owner
    if (newer) this.#doubted.delete(owner.shard)
  }

  #announce(owner: ShardOwner): void {
    this.#news.push(owner)
    if (this.#news.length > 1) return
    this.#options.env.after(tellTogetherMs, () => this.#options.announce(this.#news.splice(0)))
  }

  /** Wakes those who wait for a change. */
  #tell(): void {
    const change = this.#change
    this.#change = Promise.withResolvers()
    change.resolve()
  }

  #workLater(): void {
    this.#stopWaiting ??= this.#options.env.after(tryAgainMs, () => {
      this.#stopWaiting = undefined
      this.#work()
    })
  }

  /** Somebody waits: the owners that are not known may be known to the store. */
  #readSoon(): void {
    if (this.#closed) return
    this.#stopReading ??= this.#options.env.after(readAgainMs, () => {
      this.#stopReading = undefined
      void this.#read()
    })
  }

  async #read(): Promise<void> {
    const { env } = this.#options
    const missing = [...this.#holds.keys()]
      .filter((shard) => this.#holds[shard] === 'free' && this.ownerOf(shard) === undefined)
    try {
      await Promise.all(missing.map((shard) => this.#limited(() => this.#readOne(shard))))
    } catch (error) {
      env.log.debug('The owners of shards cannot be read.', { error })
    }
    this.#tell()
  }

  async #readOne(shard: number): Promise<void> {
    const owner = await this.#options.shardOwners.owner(shard)
    this.#doubted.delete(shard)
    if (owner !== undefined) this.#note(owner)
  }
}

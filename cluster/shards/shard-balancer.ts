/**
 * The shards that this member owns, and what it knows of the owners of all others.
 *
 *   1. A shard belongs where it is placed, among the members that stay. The member there takes it
 *      as soon as no living member owns it.
 *   2. The owner of a shard that is placed elsewhere gives it back: first nothing new is begun in
 *      it, then what is under way ends, and only then is it free. The others are notified at once.
 *      To a member that joins, shards in which something is in progress move last: it has warmed up
 *      by then, and has nothing else to take. From a member that leaves, they move first.
 *   3. What is known of other owners is a hint: only the member that is asked knows if it is one.
 */

import type { ActorKey } from '../actors/actor-key.ts'
import { limitConcurrency } from '../flow/limit-concurrency.ts'
import { pause } from '../flow/pause.ts'
import { retryAtStartup } from '../flow/retry-at-startup.ts'
import { atLatest } from '../flow/with-timeout.ts'
import type { FailureDetector } from '../membership/failure-detector.ts'
import type { Member } from '../membership/member.ts'
import type { Env } from '../runtime/env.ts'
import { claimShard, fewAtOnce, giveBackShard } from './claim.ts'
import type { ClaimOptions } from './claim.ts'
import type { Owner, Ownership } from './ownership.ts'
import { placeShard } from './placement.ts'
import type { ShardHost } from './shard-host.ts'
import type { ShardOwner, ShardPort } from './shard-port.ts'

export interface ShardBalancerOptions {
  readonly env: Env
  readonly self: Member
  readonly shards: number
  readonly shardOwners: ShardPort
  readonly detector: Pick<FailureDetector,
    'view' | 'hasEnded' | 'sees' | 'onChange' | 'doubt' | 'proveEnded'>
  /** Tells all other members of changed owners. If a message is lost, they find out themselves. */
  announce(changes: readonly ShardChange[]): void
}

/** A change of owner; of a shard that was given back, also what the next owner should wake. */
export interface ShardChange extends ShardOwner {
  /** Actors in which something is in progress: a hint, perhaps not all of them. */
  readonly goingOn?: readonly ActorKey[]
}

/**
 * free     another member owns it, or nobody
 * unclear  a claim failed, but may have come through
 * taking   it is being claimed, or waits for that
 * owned    this member owns it
 * giving   this member owns it until its turn comes to be given back
 * stopped  nothing new is begun in it: it is about to be given back
 */
type ShardPhase = 'free' | 'unclear' | 'taking' | 'owned' | 'giving' | 'stopped'

/**
 * Shards that are stopped at once; the others are served until their turn comes. Nobody serves a
 * stopped shard until another member has taken it, so no more are stopped than are taken.
 */
const releasedAtOnce = 4
/** A shard in which something takes longer to end does not keep the next one waiting. */
const turnMs = 200
/** A shard without a taker is kept until the next rebalance. */
const takenMs = 1_000
/** Reads of owners under way at once; apart from the changes, which need not wait for them. */
const readsAtOnce = 32
/** How many actors of one shard are named. */
const hintsMax = 100
/** When something that failed is tried again. */
const tryAgainMs = 500
/** When to check whether a shard of another member is free, although nobody said so. */
const lookAgainMs = 2_000
/** When owners that somebody waits for are read again. */
const readAgainMs = 150
/** Changes within this time are announced together. */
const announceTogetherMs = 5

export class ShardBalancer implements Ownership {
  readonly shards: number
  readonly self: Member
  readonly #options: ShardBalancerOptions
  readonly #known: (ShardOwner | undefined)[]
  readonly #phases: ShardPhase[]
  /** The member where each shard is placed. */
  #places: readonly string[] = []
  /** Shards whose owner is to be read again. */
  readonly #doubted = new Set<number>()
  readonly #claiming: Omit<ClaimOptions, 'ended'>
  readonly #paced = limitConcurrency(releasedAtOnce)
  readonly #reading = limitConcurrency(readsAtOnce)
  /** By shard: callers that wait ask more often than a slow store answers. */
  readonly #reads = new Map<number, Promise<void>>()
  /** By shard: what the last owner reported, in case this member owns it next. */
  readonly #handoverHints = new Map<number, ShardChange>()
  #changes: ShardChange[] = []
  #change = Promise.withResolvers<void>()
  #host: ShardHost | undefined
  #closed = false
  #stopWaiting = () => {}
  #workAtMs = Number.POSITIVE_INFINITY
  #stopReading: (() => void) | undefined

  constructor(options: ShardBalancerOptions) {
    const { env, self, shardOwners } = options
    this.#claiming = { env, self, shardOwners: fewAtOnce(shardOwners) }
    this.#options = options
    this.shards = options.shards
    this.self = options.self
    this.#known = Array.from({ length: options.shards }, () => undefined)
    this.#phases = Array.from({ length: options.shards }, () => 'free')
  }

  /** The owner of each shard, as far as is known. */
  get known(): readonly (ShardOwner | undefined)[] {
    return this.#known
  }

  ownerOf(shard: number): Owner | undefined {
    const owner = this.#known[shard]
    if (owner === undefined || owner.session === null || this.#doubted.has(shard)) return undefined
    const { session: id, address, epoch } = owner
    if (id !== this.self.id) {
      return this.#options.detector.hasEnded(id) ? undefined : { member: { id, address }, epoch }
    }
    const phase = this.#phases[shard]
    return phase === 'owned' || phase === 'giving' ? { member: this.self, epoch } : undefined
  }

  changed(): Promise<void> {
    this.#readSoon()
    return this.#change.promise
  }

  learn(shard: number, { member: { id, address }, epoch }: Owner): void {
    this.handle([{ shard, epoch, session: id, address }])
  }

  doubt(shard: number): void {
    const owner = this.#known[shard]
    if (owner === undefined || owner.session === this.self.id) return
    this.#doubted.add(shard)
    if (owner.session !== null) {
      this.#options.detector.doubt({ id: owner.session, address: owner.address })
    }
  }

  /** What other members announce. */
  handle(changes: readonly ShardChange[]): void {
    for (const each of changes) {
      const { goingOn: inProgress, ...owner } = each
      this.#note(owner)
      // If this member read that the shard is free, this comes after that, or after its claim.
      if (inProgress && this.#phases[owner.shard] === 'owned') this.#host?.hinted(inProgress)
      else if (inProgress) this.#handoverHints.set(owner.shard, each)
    }
    this.#announceChanges()
    this.#work()
  }

  /** Reads who owns what. */
  async look(): Promise<void> {
    this.handle(await this.#options.shardOwners.owners())
  }

  /** As `look`, but never throws: an owner that cannot be read is read when it is needed. */
  async lookAgain(): Promise<void> {
    await this.look().catch((error: unknown) => this.#unread(error))
  }

  /**
   * Takes the shards that are placed here, now and after each change of the view. Resolves when all
   * of these have an owner. Throws if the store does not answer for long.
   */
  async start(host: ShardHost): Promise<void> {
    const { detector } = this.#options
    this.#host = host
    this.#place()
    detector.onChange(() => {
      this.#place()
      this.#announceChanges()
      this.#work()
    })
    await retryAtStartup(this.#options.env, async () => {
      for (const taking of await Promise.allSettled(this.#closed ? [] : this.#move())) {
        if (taking.status === 'rejected') throw taking.reason
      }
    })
    this.#work()
  }

  /**
   * Gives everything back, because the failure detector says that this member leaves. Resolves when
   * nothing is left, or no member stays that could take it.
   */
  async leave(): Promise<void> {
    this.#work()
    const { detector } = this.#options
    const isLeft = (phase: ShardPhase) => phase !== 'free' && phase !== 'unclear'
    while (detector.view.members.length > 0 && this.#phases.some(isLeft)) await this.#change.promise
  }

  /** Nothing is taken or given any more. */
  close(): void {
    this.#closed = true
    this.#stopWaiting()
    this.#stopReading?.()
  }

  #place(): void {
    const { members } = this.#options.detector.view
    this.#places = members.length === 0 ?
      []
      : this.#phases.map((_, shard) => placeShard(shard, members).id)
  }

  /** Never throws. */
  #work(): void {
    if (this.#host === undefined || this.#closed) return
    for (const taking of this.#move()) {
      taking.catch((error: unknown) => {
        this.#options.env.log.warn('A shard could not be taken; it is tried again.', { error })
        this.#workLater(tryAgainMs)
      })
    }
  }

  /** Brings every shard where it is placed, as far as it is this member's to do. */
  #move(): Promise<void>[] {
    const taking: Promise<void>[] = []
    const giving: number[] = []
    // If no member stays, there is nobody to give anything to.
    if (this.#places.length === 0) return taking
    for (const [shard, phase] of this.#phases.entries()) {
      const isHere = this.#places[shard] === this.self.id
      const isToTake = phase === 'unclear' || (phase === 'free' && isHere)
      if (isToTake && isHere && this.#isOthers(shard)) this.#workLater(lookAgainMs)
      else if (isToTake) {
        this.#phases[shard] = 'taking'
        taking.push(this.#take(shard))
      } else if (phase === 'owned' && !isHere) giving.push(shard)
    }
    const busy = giving.length > 0 ? this.#host!.busy() : new Set()
    const stays = this.#options.detector.view.members.some(({ id }) => id === this.self.id)
    for (const first of [!stays, stays]) {
      for (const shard of giving) if (busy.has(shard) === first) void this.#give(shard)
    }
    return taking
  }

  /** Whether a living member owns it: that one will give it back, and say so. */
  #isOthers(shard: number): boolean {
    const session = this.#known[shard]?.session
    return session !== undefined && session !== null && session !== this.self.id &&
      this.#options.detector.sees(session)
  }

  async #take(shard: number): Promise<void> {
    const ended = (other: Member) => this.#options.detector.proveEnded(other)
    const claimed = claimShard({ ...this.#claiming, ended }, shard, this.#known[shard])
    const owner = await claimed.catch((error: unknown) => {
      this.#phases[shard] = 'unclear'
      throw error
    })
    this.#note(owner)
    this.#phases[shard] = owner.session === this.self.id ? 'owned' : 'free'
    if (owner.session !== this.self.id) return this.#workLater(tryAgainMs)
    this.#announce(owner)
    const hints = this.#handoverHints.get(shard)
    this.#handoverHints.delete(shard)
    // Not what was meant for an owner in between.
    this.#host!.taken(shard, hints?.epoch === owner.epoch - 1 ? hints.goingOn : undefined)
    this.#announceChanges()
    // Its place may have changed meanwhile.
    if (this.#places[shard] !== this.self.id) this.#work()
  }

  /** Never throws. */
  async #give(shard: number): Promise<void> {
    this.#phases[shard] = 'giving'
    const owned = this.#known[shard]!
    let given: Promise<void> | undefined
    await this.#paced(async () => {
      this.#phases[shard] = 'stopped'
      this.#announceChanges()
      given = this.#endShard(shard).then((busy) => busy && this.#release(owned, busy))
      const { env } = this.#options
      const isFree = await atLatest(env, turnMs, given.then(() => true))
      if (isFree) await atLatest(env, takenMs, this.#taken(shard))
    })
    await given
  }

  /** Resolves when somebody owns it. */
  async #taken(shard: number): Promise<void> {
    while (this.#known[shard]?.session === null) await this.#change.promise
  }

  async #release(owned: ShardOwner, inProgress: readonly ActorKey[]): Promise<void> {
    const { shard } = owned
    // If another member owns it, this session has ended: the shard is not this member's to give.
    const isOwn = owned.session === this.self.id
    const owner = isOwn ? await giveBackShard(this.#claiming, owned, () => this.#closed) : owned
    if (owner === undefined) return
    this.#phases[shard] = 'free'
    this.#note(owner)
    if (isOwn) this.#announce({ ...owner, goingOn: inProgress.slice(0, hintsMax) })
    this.#announceChanges()
    // The view may have changed meanwhile, back to where the shard was.
    this.#work()
  }

  /** Resolves when nothing of it is under way any more; undefined if the balancer was closed. */
  async #endShard(shard: number): Promise<readonly ActorKey[] | undefined> {
    while (!this.#closed) {
      try {
        return await this.#host!.release(shard)
      } catch (error) {
        this.#options.env.log.error('A shard cannot be released; it is tried again.', { shard,
          error })
      }
      await pause(this.#options.env, tryAgainMs)
    }
    return undefined
  }

  /** Takes over what is newer. A shard is given back in the epoch in which it was owned. */
  #note(owner: ShardOwner): boolean {
    const known = this.#known[owner.shard]
    const isOwn = ['owned', 'giving', 'stopped'].includes(this.#phases[owner.shard]!)
    const isNewer = known === undefined || owner.epoch > known.epoch ||
      (owner.epoch === known.epoch && owner.session === null && known.session !== null && !isOwn)
    if (!isNewer) return false
    this.#known[owner.shard] = owner
    this.#doubted.delete(owner.shard)
    return true
  }

  #announce(changes: ShardChange): void {
    this.#changes.push(changes)
    if (this.#changes.length > 1) return
    this.#options.env.after(announceTogetherMs,
      () => this.#options.announce(this.#changes.splice(0)))
  }

  /** Wakes those who wait for a change. */
  #announceChanges(): void {
    const change = this.#change
    this.#change = Promise.withResolvers()
    change.resolve()
  }

  /** If called several times, the earliest time counts. */
  #workLater(ms: number): void {
    const { env } = this.#options
    const atMs = env.monotonicMs() + ms
    if (this.#closed || atMs >= this.#workAtMs) return
    this.#stopWaiting()
    this.#workAtMs = atMs
    this.#stopWaiting = env.after(ms, () => {
      this.#workAtMs = Number.POSITIVE_INFINITY
      // The message that they were given back may have been lost.
      const waiting = [...this.#places.keys()]
        .filter((shard) => this.#places[shard] === this.self.id && this.#isOthers(shard))
      void this.#read(waiting).then(() => this.#work())
    })
  }

  /** Somebody waits: the store may know the owners that are not known here. */
  #readSoon(): void {
    if (this.#closed) return
    this.#stopReading ??= this.#options.env.after(readAgainMs, () => {
      this.#stopReading = undefined
      const missing = [...this.#places.keys()].filter((shard) =>
        this.#known[shard]?.session !== this.self.id && this.ownerOf(shard) === undefined
      )
      // A shard that nobody owns may be this member's to take.
      void this.#read(missing).then(() => this.#work())
    })
  }

  /** Never throws. */
  async #read(shards: readonly number[]): Promise<void> {
    await Promise.all(shards.map((shard) => this.#readOwner(shard)))
      .catch((error: unknown) => this.#unread(error))
    this.#announceChanges()
  }

  #readOwner(shard: number): Promise<void> {
    const underWay = this.#reads.get(shard)
    if (underWay !== undefined) return underWay
    const read = this.#reading(async () => {
      const owner = await this.#options.shardOwners.owner(shard)
      this.#doubted.delete(shard)
      if (owner !== undefined) this.#note(owner)
    }).finally(() => this.#reads.delete(shard))
    this.#reads.set(shard, read)
    return read
  }

  #unread(error: unknown): void {
    this.#options.env.log.debug('The owners of shards cannot be read.', { error })
  }
}

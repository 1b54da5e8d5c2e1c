/**
 * Brings the shards that are placed at this member here, and gives the others back.
 *
 *   1. A shard belongs where it is placed, among the members that stay. The member there takes it
 *      as soon as no living member owns it.
 *   2. The owner of a shard that is placed elsewhere gives it back: first nothing new is begun in
 *      it, then what is under way ends, and only then is it free. The others are notified at once.
 *   3. A shard without a taker is kept until the next rebalance.
 *
 * `shard-phase.ts` decides, `shard-table.ts` knows, and this class acts.
 */

import type { ActorKey } from '../actors/actor-key.ts'
import { Backoff, backoffMs } from '../flow/backoff.ts'
import { EarliestTimer } from '../flow/earliest-timer.ts'
import { retryAtStartup } from '../flow/retry-at-startup.ts'
import { sendTogether } from '../flow/send-together.ts'
import { Signal } from '../flow/signal.ts'
import type { FailureDetector } from '../membership/failure-detector.ts'
import type { Member } from '../member.ts'
import type { Env } from '../runtime/env.ts'
import { claimShard, fewAtOnce, giveBackShard } from './claim.ts'
import type { ClaimOptions } from './claim.ts'
import { OwnerReader } from './owner-reader.ts'
import type { Owner, Ownership } from './ownership.ts'
import { releasePace } from './release-pace.ts'
import type { ShardChange } from './shard-change.ts'
import type { ShardHost } from './shard-host.ts'
import { giveBackOrder } from './shard-phase.ts'
import type { ShardClaim, ShardPort } from './shard-port.ts'
import { ShardTable } from './shard-table.ts'

/** Parts with which a member takes shards and gives them back. */
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

/** Actors of one shard that are named to its next owner. */
const hintsMax = 100
/** Pauses before something that failed is tried again. */
const pauses = { firstMs: 500, longestMs: 500 }
/** Delay before a check for free shards of other members, in case no message announced them. */
const lookAgainMs = 2_000
/** Delay before owners that a caller waits for are read again. */
const readAgainMs = 150
/** Changes within this time are announced together. */
const announceTogetherMs = 5

/** The ownership of a cluster whose members come and go. */
export class ShardBalancer implements Ownership {
  readonly #options: Omit<ShardBalancerOptions, 'shardOwners'> & Pick<ClaimOptions, 'shardOwners'>
  readonly #table: ShardTable
  readonly #reader: OwnerReader
  readonly #change = new Signal()
  readonly #announce: (change: ShardChange) => void
  readonly #paced: ReturnType<typeof releasePace>
  readonly #workTimer: EarliestTimer
  readonly #readTimer: EarliestTimer
  #host: ShardHost | undefined
  #closed = false

  constructor(options: ShardBalancerOptions) {
    const { env, self, shards, shardOwners, detector } = options
    this.#options = { ...options, shardOwners: fewAtOnce(shardOwners) }
    this.#table = new ShardTable(self, shards, detector)
    this.#reader = new OwnerReader({ log: env.log, shardOwners,
      found: (shard, owner) => this.#found(shard, owner) })
    this.#announce = sendTogether(env, announceTogetherMs, (changes) => options.announce(changes))
    this.#paced = releasePace(env)
    // The message that they were given back may have been lost.
    this.#workTimer = new EarliestTimer(env, () => this.#readAndWork(this.#table.awaited()))
    // A shard without an owner may be this member's to take.
    this.#readTimer = new EarliestTimer(env, () => this.#readAndWork(this.#table.missing()))
  }

  get shards(): number {
    return this.#options.shards
  }

  get self(): Member {
    return this.#options.self
  }

  /** The owner of each shard, as far as is known. */
  get known(): readonly (ShardClaim | undefined)[] {
    return this.#table.known
  }

  ownerOf(shard: number): Owner | undefined {
    return this.#table.ownerOf(shard)
  }

  /** Resolves at the next change of an owner. Reads the owners again meanwhile: a caller waits. */
  changed(): Promise<void> {
    this.#readTimer.within(readAgainMs)
    return this.#change.next()
  }

  learn(shard: number, { member: { id, address }, epoch }: Owner): void {
    this.handle([{ shard, epoch, session: id, address }])
  }

  doubt(shard: number): void {
    const owner = this.#table.doubt(shard)
    if (owner !== undefined) this.#options.detector.doubt(owner)
  }

  /** Takes in the changes of ownership that other members announce. */
  handle(changes: readonly ShardChange[]): void {
    for (const change of changes) {
      const { goingOn: inProgress, ...owner } = change
      this.#table.note(owner)
      if (inProgress === undefined) continue
      // If this member read that the shard is free, this comes after that, or after its claim.
      if (this.#table.phaseOf(owner.shard) === 'owned') this.#host?.hinted(inProgress)
      else this.#table.keepHints(change)
    }
    this.#change.notify()
    this.#work()
  }

  /** Reads who owns what. */
  async look(): Promise<void> {
    this.handle(await this.#reader.readAll())
  }

  /** As `look`, but never throws: an owner that cannot be read is read when it is needed. */
  async lookAgain(): Promise<void> {
    await this.look().catch((error: unknown) => this.#reader.unread(error))
  }

  /**
   * Takes the shards that are placed here, now and after each change of the view. Resolves when all
   * of these have an owner. Throws if the store does not answer for long.
   */
  async start(host: ShardHost): Promise<void> {
    const { detector, env } = this.#options
    this.#host = host
    this.#table.place(detector.view.members)
    detector.onChange(() => {
      this.#table.place(detector.view.members)
      this.#change.notify()
      this.#work()
    })
    await retryAtStartup(env, async () => {
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
    while (detector.view.members.length > 0 && this.#table.holdsAny) await this.#change.next()
  }

  /** Nothing is taken or given any more. */
  close(): void {
    this.#closed = true
    this.#workTimer.close()
    this.#readTimer.close()
  }

  /** Never throws. */
  #work(): void {
    if (this.#host === undefined || this.#closed) return
    for (const taking of this.#move()) {
      taking.catch((error: unknown) => {
        this.#options.env.log.warn('A shard could not be taken; it is tried again.', { error })
        this.#tryAgain()
      })
    }
  }

  /** Moves each shard as it is decided. Returns a promise for each shard that is taken. */
  #move(): Promise<void>[] {
    const moves = Map.groupBy(this.#table.moves(), ({ move }) => move)
    const shards = (move: 'take' | 'give') => (moves.get(move) ?? []).map(({ shard }) => shard)
    if (moves.has('look_again')) this.#workTimer.within(lookAgainMs)
    const taking = shards('take').map((shard) => this.#take(shard))
    this.#giveAll(shards('give'))
    return taking
  }

  async #take(shard: number): Promise<void> {
    this.#table.enter(shard, 'taking')
    const ended = (other: Member) => this.#options.detector.proveEnded(other)
    const claimed = claimShard({ ...this.#options, ended }, shard, this.#table.known[shard])
    const owner = await claimed.catch((error: unknown) => {
      this.#table.enter(shard, 'unclear')
      throw error
    })
    this.#table.note(owner)
    if (owner.session !== this.self.id) {
      this.#table.enter(shard, 'free')
      return this.#tryAgain()
    }
    this.#table.enter(shard, 'owned')
    this.#announce(owner)
    this.#host!.taken(shard, this.#table.takeHints(owner))
    this.#change.notify()
    // Its place may have changed meanwhile.
    if (!this.#table.isPlacedHere(shard)) this.#work()
  }

  #giveAll(shards: readonly number[]): void {
    if (shards.length === 0) return
    const isStaying = this.#options.detector.view.members.some(({ id }) => id === this.self.id)
    for (const shard of giveBackOrder(shards, this.#host!.busy(), isStaying)) {
      this.#table.enter(shard, 'giving')
      const owned = this.#table.known[shard]!
      void this.#paced({ release: () => this.#release(owned), taken: () => this.#taken(shard) })
    }
  }

  /** Resolves when a member owns the shard. */
  async #taken(shard: number): Promise<void> {
    while (this.#table.known[shard]?.session === null) await this.#change.next()
  }

  /** Never throws. */
  async #release(owned: ShardClaim): Promise<void> {
    this.#table.enter(owned.shard, 'stopped')
    this.#change.notify()
    const inProgress = await this.#endShard(owned.shard)
    if (inProgress !== undefined) await this.#giveBack(owned, inProgress)
  }

  /** Resolves when nothing of it is under way any more; undefined if the balancer was closed. */
  async #endShard(shard: number): Promise<readonly ActorKey[] | undefined> {
    const backoff = new Backoff(this.#options.env, pauses)
    while (!this.#closed) {
      try {
        return await this.#host!.release(shard)
      } catch (error) {
        this.#options.env.log.error('A shard cannot be released; it is tried again.', { shard,
          error })
      }
      await backoff.pause()
    }
    return undefined
  }

  async #giveBack(owned: ShardClaim, inProgress: readonly ActorKey[]): Promise<void> {
    // If another member owns it, this session has ended: the shard is not this member's to give.
    const isOwn = owned.session === this.self.id
    const owner = isOwn ? await giveBackShard(this.#options, owned, () => this.#closed) : owned
    if (owner === undefined) return
    this.#table.enter(owned.shard, 'free')
    this.#table.note(owner)
    if (isOwn) this.#announce({ ...owner, goingOn: inProgress.slice(0, hintsMax) })
    this.#change.notify()
    // The view may have changed meanwhile, back to where the shard was.
    this.#work()
  }

  #tryAgain(): void {
    this.#workTimer.within(backoffMs(pauses, 1, this.#options.env.random()))
  }

  #readAndWork(shards: readonly number[]): void {
    void this.#reader.read(shards).then(() => {
      this.#change.notify()
      this.#work()
    })
  }

  #found(shard: number, owner: ShardClaim | undefined): void {
    this.#table.believe(shard)
    if (owner !== undefined) this.#table.note(owner)
  }
}

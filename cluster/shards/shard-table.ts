/**
 * Knowledge of one member about all shards: their owners, their places and their phases here.
 *
 * What is known of other owners is a hint: only the member that is asked knows if it is one.
 */

import type { ActorKey } from '../actors/actor-key.ts'
import type { Member } from '../member.ts'
import type { Owner } from './ownership.ts'
import { placeShard } from './placement.ts'
import type { ShardChange } from './shard-change.ts'
import { decideMove, isHeld, isLeft, isServed } from './shard-phase.ts'
import type { ShardMove, ShardPhase } from './shard-phase.ts'
import type { ShardClaim } from './shard-port.ts'

/** Signs of life of members, for the look-up of a shard's owner. */
export interface MemberSigns {
  /** True if the session is known to have ended. */
  hasEnded(session: string): boolean
  /** True if the member is alive, as far as is known. */
  sees(session: string): boolean
}

/** Table of the shards, without I/O: the shard balancer acts on its moves. */
export class ShardTable {
  readonly #self: Member
  readonly #signs: MemberSigns
  readonly #known: (ShardClaim | undefined)[]
  readonly #phases: ShardPhase[]
  /** The id of the member where each shard is placed; empty if no member stays. */
  #places: readonly string[] = []
  /** Shards whose owner is to be read again. */
  readonly #doubted = new Set<number>()
  /** By shard: what the last owner reported, in case this member owns it next. */
  readonly #handoverHints = new Map<number, ShardChange>()

  constructor(self: Member, shards: number, signs: MemberSigns) {
    this.#self = self
    this.#signs = signs
    this.#known = Array.from({ length: shards }, () => undefined)
    this.#phases = Array.from({ length: shards }, () => 'free')
  }

  /** The owner of each shard, as far as is known. */
  get known(): readonly (ShardClaim | undefined)[] {
    return this.#known
  }

  /** True if this member still has shards to give back. */
  get holdsAny(): boolean {
    return this.#phases.some(isLeft)
  }

  /** The phase of the shard at this member. */
  phaseOf(shard: number): ShardPhase {
    return this.#phases[shard]!
  }

  /** The shard is in this phase from now on. */
  enter(shard: number, phase: ShardPhase): void {
    this.#phases[shard] = phase
  }

  /** The member that answers for the shard; undefined if none is known. */
  ownerOf(shard: number): Owner | undefined {
    const owner = this.#known[shard]
    if (owner === undefined || owner.session === null || this.#doubted.has(shard)) return undefined
    const { session: id, address, epoch } = owner
    if (id !== this.#self.id) {
      return this.#signs.hasEnded(id) ? undefined : { member: { id, address }, epoch }
    }
    return isServed(this.#phases[shard]!) ? { member: this.#self, epoch } : undefined
  }

  /** Takes over what is newer. A shard is given back in the epoch in which it was owned. */
  note(owner: ShardClaim): void {
    const known = this.#known[owner.shard]
    if (!isNewer(known, owner, isHeld(this.#phases[owner.shard]!))) return
    this.#known[owner.shard] = owner
    this.#doubted.delete(owner.shard)
  }

  /** The owner is to be read again. Returns that member, if it is another one. */
  doubt(shard: number): Member | undefined {
    const owner = this.#known[shard]
    if (owner === undefined || owner.session === this.#self.id) return undefined
    this.#doubted.add(shard)
    return owner.session === null ? undefined : { id: owner.session, address: owner.address }
  }

  /** The owner was read: it is believed again. */
  believe(shard: number): void {
    this.#doubted.delete(shard)
  }

  /** Places every shard among the members that stay. */
  place(members: readonly Member[]): void {
    this.#places = members.length === 0
      ? []
      : this.#phases.map((_, shard) => placeShard(shard, members).id)
  }

  /** True if the shard should be owned by this member. */
  isPlacedHere(shard: number): boolean {
    return this.#places[shard] === this.#self.id
  }

  /** Each shard with its next move; none if no member stays that could take one. */
  moves(): readonly { readonly shard: number; readonly move: ShardMove }[] {
    return this.#places.map((_, shard) => ({
      shard,
      move: decideMove({
        phase: this.#phases[shard]!,
        isPlacedHere: this.isPlacedHere(shard),
        isOthers: this.#isOthers(shard),
      }),
    }))
  }

  /** Shards that are placed here while another living member owns them. */
  awaited(): readonly number[] {
    return this.#shards().filter((shard) => this.isPlacedHere(shard) && this.#isOthers(shard))
  }

  /** Shards whose owner is not known here, although it may be another member. */
  missing(): readonly number[] {
    return this.#shards().filter((shard) =>
      this.#known[shard]?.session !== this.#self.id && this.ownerOf(shard) === undefined
    )
  }

  /** Keeps what the owner that gave the shard back reported. */
  keepHints(change: ShardChange): void {
    this.#handoverHints.set(change.shard, change)
  }

  /** Removes and returns the hints for this owner, without those for an owner in between. */
  takeHints({ shard, epoch }: ShardClaim): readonly ActorKey[] | undefined {
    const hints = this.#handoverHints.get(shard)
    this.#handoverHints.delete(shard)
    return hints?.epoch === epoch - 1 ? hints.goingOn : undefined
  }

  #shards(): readonly number[] {
    return [...this.#places.keys()]
  }

  #isOthers(shard: number): boolean {
    const session = this.#known[shard]?.session
    return session !== undefined && session !== null && session !== this.#self.id &&
      this.#signs.sees(session)
  }
}

/** True if `owner` came after `known`. `isOwn`: this member owns the shard as `known` says. */
function isNewer(known: ShardClaim | undefined, owner: ShardClaim, isOwn: boolean): boolean {
  if (known === undefined || owner.epoch > known.epoch) return true
  const isGivenBack = owner.session === null && known.session !== null
  return owner.epoch === known.epoch && isGivenBack && !isOwn
}

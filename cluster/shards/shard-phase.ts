/** The phases of a shard at one member, and what the member does next with it. */

/**
 * free     Another member owns it, or it has no owner.
 * unclear  A claim failed, but may have come through.
 * taking   It is being claimed, or waits for that.
 * owned    This member owns it.
 * giving   This member owns it until its turn comes to be given back.
 * stopped  Nothing new is begun in it, because it is about to be given back.
 */
export type ShardPhase = 'free' | 'unclear' | 'taking' | 'owned' | 'giving' | 'stopped'

/** True if this member answers for a shard in that phase. */
export function isServed(phase: ShardPhase): boolean {
  return phase === 'owned' || phase === 'giving'
}

/** True if only this member, while it lives, can change the owner of a shard in that phase. */
export function isHeld(phase: ShardPhase): boolean {
  return isServed(phase) || phase === 'stopped'
}

/** True if a member that leaves still has to do something with a shard in that phase. */
export function isLeft(phase: ShardPhase): boolean {
  return isHeld(phase) || phase === 'taking'
}

/** Situation in which a member decides about a shard. */
export interface ShardSituation {
  readonly phase: ShardPhase
  /** True if the shard is placed at this member. */
  readonly isPlacedHere: boolean
  /** True if another, living member owns it: that one gives it back, and says so. */
  readonly isOthers: boolean
}

/**
 * take        Claim it.
 * give        Give it back.
 * look_again  Read its owner later: the message that it is free may get lost.
 * nothing     Leave it as it is.
 */
export type ShardMove = 'take' | 'give' | 'look_again' | 'nothing'

/** Brings a shard where it is placed, as far as it is this member's to do. */
export function decideMove({ phase, isPlacedHere, isOthers }: ShardSituation): ShardMove {
  if (phase === 'owned') return isPlacedHere ? 'nothing' : 'give'
  // After an unclear claim this member may be the owner, so it finds out wherever the place is.
  if (phase === 'unclear') return isPlacedHere && isOthers ? 'look_again' : 'take'
  if (phase !== 'free' || !isPlacedHere) return 'nothing'
  return isOthers ? 'look_again' : 'take'
}

/**
 * The order in which shards are given back. Shards in which something is in progress go last to a
 * member that joins: it has warmed up by then, and has nothing else to take. From a member that
 * leaves, they go first.
 */
export function giveBackOrder(shards: readonly number[], busy: ReadonlySet<number>,
  isStaying: boolean): readonly number[] {
  const [busyOnes, others] = [true, false].map((isBusy) =>
    shards.filter((shard) => busy.has(shard) === isBusy)
  )
  return isStaying ? [...others!, ...busyOnes!] : [...busyOnes!, ...others!]
}

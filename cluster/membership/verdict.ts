/**
 * Verdict on another member, dead or not, decided from what this member found out about it.
 *
 *   1. A member is dead if its address refuses connections; if it is silent, also to members that
 *      talk to it anyway, and left no heartbeat for five seconds; or if it sends heartbeats but
 *      answered nothing for eight. It is given more time while this member itself is late, as on a
 *      shared machine.
 *   2. If there is a third member, it is asked as well, so that one broken connection ends no
 *      member. A member that finds all others silent draws no conclusion, and waits for eight
 *      seconds more.
 *   3. A member whose heartbeat stands still while those of others continue has lost the store, and
 *      counts as dead.
 */

/** A member is dead if its heartbeat stands still for this long. */
export const staleMs = 8_000
/** A member that does not answer may be busy for this long, if it leaves no heartbeat either. */
const silentMs = 5_000
/** A member that sends heartbeats but that no other member reaches for this long is cut off. */
const cutOffMs = 8_000

/**
 * seen          Another member reaches it.
 * not seen      Another member does not reach it either, or there is no other member.
 * nobody asked  No other member could be asked.
 */
export type Witness = 'seen' | 'not seen' | 'nobody asked'

/**
 * reachable  It answers, or nothing can be concluded: its silence begins anew.
 * unclear    It is not dead yet, and its silence goes on.
 * silent     It does not answer: whether it still leaves heartbeats decides.
 * dead       Its session is to be ended, for the reason in `why`.
 */
export type Verdict =
  | { readonly kind: 'reachable' | 'unclear' | 'silent' }
  | { readonly kind: 'dead'; readonly why: string }

/** Reasons of this member to distrust its own eyes. */
export interface OwnCondition {
  /** It stood still a moment ago, or does so now. */
  readonly stoodStill: boolean
  /** It reached no other member within the last eight seconds. */
  readonly wasAlone: boolean
  /** Extra time for which others may be silent, because this member is late itself. */
  readonly slackMs: number
}

const reachable: Verdict = { kind: 'reachable' }
const unclear: Verdict = { kind: 'unclear' }
const silent: Verdict = { kind: 'silent' }

/**
 * The address refuses connections, so its process is gone. Silence might end, this does not.
 * `witness` is undefined if no other member was asked.
 */
export function judgeRefusal(witness: Witness | undefined,
  { wasAlone }: Pick<OwnCondition, 'wasAlone'>): Verdict {
  // When a cut-off ends, connections may still break although all is well.
  if (wasAlone) return reachable
  return witness === 'seen' ? unclear : { kind: 'dead', why: 'Nobody is at its address.' }
}

/** The address did not answer at once. `isReached`: it answered this member in the end. */
export function judgeSilence({ isReached, witness, own: { stoodStill, wasAlone } }: {
  readonly isReached: boolean
  readonly witness: Witness
  readonly own: Pick<OwnCondition, 'stoodStill' | 'wasAlone'>
}): Verdict {
  const isSeen = isReached || witness === 'seen' || stoodStill
  // If this member reaches nobody, it may be cut off itself: only the age of heartbeats counts
  // then, and for a while after, as what was held up comes all at once.
  return isSeen || witness === 'nobody asked' || wasAlone ? reachable : silent
}

/** Verdict on a member after a silence. `hasHeartbeat`: it left a new heartbeat meanwhile. */
export function judgeHeartbeat({ hasHeartbeat, silenceMs, own: { stoodStill, slackMs } }: {
  readonly hasHeartbeat: boolean
  readonly silenceMs: number
  readonly own: Pick<OwnCondition, 'stoodStill' | 'slackMs'>
}): Verdict {
  if (!hasHeartbeat) {
    if (stoodStill) return unclear
    return { kind: 'dead', why: 'It does not answer, and leaves no heartbeat.' }
  }
  if (silenceMs < cutOffMs + slackMs) return unclear
  return { kind: 'dead', why: 'It leaves heartbeats, but no member reaches it.' }
}

/** True if a heartbeat has stood still for so long that its member must have lost the store. */
export function isStale(stillMs: number,
  { stoodStill, slackMs }: Pick<OwnCondition, 'stoodStill' | 'slackMs'>): boolean {
  return stillMs > staleMs + slackMs && !stoodStill
}

/**
 * Time that a silent member still has to leave a heartbeat; its last one was seen `ageMs` before
 * the heartbeats were read. Zero or less: it leaves none.
 */
export function heartbeatRestMs(ageMs: number, { slackMs }: Pick<OwnCondition, 'slackMs'>): number {
  return silentMs + slackMs - ageMs
}

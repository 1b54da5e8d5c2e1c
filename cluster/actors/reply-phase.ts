/** The phases of one reply behind the reply fence, and what may become of it in each. */

import type { Retry } from '../errors.ts'
import type { Turn } from './actor.ts'

/**
 * waiting    The command waits for its turn: nothing was done.
 * abandoned  It waited too long: its turn must not begin any more.
 * writing    Its turn began, and may have written something.
 * reading    Its turn began, and writes nothing.
 * early      Its turn began; the reply acknowledges nothing yet, or nothing that is stored.
 */
export type ReplyPhase = 'waiting' | 'abandoned' | 'writing' | 'reading' | 'early'

/** The phase of a turn that has made its decision. */
export function phaseOfTurn(kind: Turn['kind']): ReplyPhase {
  if (kind === 'read') return 'reading'
  return kind === 'early' ? 'early' : 'writing'
}

/** True if a caller that has waited too long may be answered that nothing was written. */
export function mayGiveUp(phase: ReplyPhase): boolean {
  return phase === 'waiting' || phase === 'reading'
}

/** True if a reply leaves only when the session is known to have lived after the turn began. */
export function isChecked(phase: ReplyPhase): boolean {
  return phase !== 'early'
}

/**
 * Treatment of a failed reply.
 *
 * unknown  Another member took over and the turn may have written: the outcome is not known.
 * check    A final refusal depends on the actor's state just as an answer does.
 * as_is    The error says that nothing was done, or says all that is known.
 */
export type FailedReply = 'unknown' | 'check' | 'as_is'

/** `retry` is that of the error; undefined for an error that is a bug. */
export function failedReply(phase: ReplyPhase, retry: Retry | undefined): FailedReply {
  if (retry === 'elsewhere' && (phase === 'writing' || phase === 'early')) return 'unknown'
  return retry === 'no' ? 'check' : 'as_is'
}

/** The port that a door asks about each call of a run: recorders and effects stand behind it. */

import type { AnswerHead, Call, CallAnswer, CallEnd } from './call.ts'

/** Decides about the calls of one execution. */
export interface CallGate {
  /**
   * Called once for each call before anything of it is sent. Answer at once where nothing has to be
   * awaited: the call is not delayed then. If it throws or rejects, the call fails with the error.
   */
  decide(call: Call): CallDecision | Promise<CallDecision>
}

/**
 * pass    sends the call
 * answer  gives the answer, and sends nothing
 * fail    fails the call for its client, and sends nothing
 * hold    leaves the call open for ever, and sends nothing: the execution is about to be ended.
 *         Clients retry an error, and nodes catch it.
 */
export type CallDecision =
  | {
    readonly kind: 'pass'
    /** Headers that replace those of the same name, in lower case; null removes one. */
    readonly headers?: Readonly<Record<string, string | null>>
    readonly watcher?: CallWatcher
  }
  | { readonly kind: 'answer'; readonly answer: CallAnswer; readonly watcher?: CallWatcher }
  | { readonly kind: 'fail'; readonly error: Error }
  | { readonly kind: 'hold' }

/**
 * nothing  the answer goes to the client as it comes
 * end      the client gets the end of the answer when `ended` has resolved
 * answer   the client gets no part of the answer before `ended` has resolved. An answer of more
 *          bytes than the door holds is passed on from there, as with `end`.
 */
export type HeldPart = 'nothing' | 'end' | 'answer'

/**
 * Follows a call that passed. An exception of any function but `ended` is ignored. Chunks belong to
 * the client: a watcher that keeps one copies it.
 */
export interface CallWatcher {
  /** The part of the answer, or of a failure, that waits for `ended`. */
  readonly holds?: HeldPart
  /** A part of the request's body went out. */
  sent?(chunk: Uint8Array): void
  head?(head: AnswerHead): void
  /** A part of the answer's body came: as compressed as on the wire, without transfer coding. */
  chunk?(chunk: Uint8Array): void
  /**
   * Called once. If it rejects, the client gets the error in place of the part that was held. If it
   * never settles, neither does the call.
   */
  ended?(end: CallEnd): void | Promise<void>
}

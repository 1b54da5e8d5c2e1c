/**
 * The fence before every reply: it makes sure that this member was still the owner when it replied.
 *
 * A turn reports what earlier turns left, so it is enough that the session lived after the turn
 * began. What a turn writes passes the ownership check on its way into the store, before its
 * promise resolves: by then the reply is covered, and needs no second validation. A turn that only
 * reads passes the ownership check while its reply is made.
 *
 * Rule: [reply_fence].
 */

import { ClusterError, CodedError } from '../errors.ts'
import type { OwnershipCheck } from '../membership/ownership-check.ts'
import type { Env } from '../runtime/env.ts'
import type { Turn } from './actor.ts'
import type { Operation } from './mailbox.ts'
import { failedReply, isChecked, mayGiveUp, phaseOfTurn } from './reply-phase.ts'
import type { ReplyPhase } from './reply-phase.ts'

/**
 * Time for which a reply waits for a closed check. While the ownership check is open, the store is
 * only slow.
 */
const patienceMs = 2_000

/**
 * Time for which a command waits for its turn, and a reading turn for the data that it reads.
 * Earlier turns may wait for replicas for as long as these are down. A command that has not begun,
 * or only reads, has written nothing.
 */
const turnMs = 20_000

/** Lets replies leave only while this member is the owner. */
export class ReplyFence {
  readonly #env: Env
  readonly #check: OwnershipCheck
  /** For replies that have waited too long: called as soon as the ownership check closes. */
  readonly #refusals = new Set<(reason: unknown) => void>()
  /** The promise of the ownership check that this listens to: one for all of them. */
  #received: Promise<void> | undefined

  constructor(env: Env, check: OwnershipCheck) {
    this.#env = env
    this.#check = check
  }

  /**
   * The reply of `operation`, which `post` hands to its actor. Throws `unavailable` if nothing was
   * written and the store cannot be reached or the actor does not get to it, `not_owner` if the
   * session has ended and the turn did not begin. If the turn did begin, it may have written
   * something: then the error is `ambiguous`.
   */
  async reply(operation: Operation,
    post: (operation: Operation) => Promise<unknown>): Promise<unknown> {
    requireOpen(this.#check)
    let phase: ReplyPhase = 'waiting'
    let mark: number | undefined
    let passing: Promise<void> | undefined
    const confirm = () => passing ??= this.#confirm(mark)
    const givenUp = Promise.withResolvers<never>()
    const decided = ({ kind }: Turn) => {
      phase = phaseOfTurn(kind)
      if (phase === 'reading') confirm().catch(givenUp.reject)
    }
    const cancel = this.#env.after(turnMs, () => {
      if (!mayGiveUp(phase)) return
      if (phase === 'waiting') phase = 'abandoned'
      givenUp.reject(tooLate())
    })
    const marked: Operation = (actor) => {
      if (phase === 'abandoned') throw tooLate()
      phase = 'writing'
      mark = this.#check.mark()
      const turn = operation(actor)
      if (turn instanceof Promise) turn.then(decided, () => {})
      else decided(turn)
      return turn
    }
    try {
      const reply = await Promise.race([post(marked), givenUp.promise])
      if (isChecked(phase)) await confirm()
      return reply
    } catch (error) {
      const failed = failedReply(phase, error instanceof CodedError ? error.retry : undefined)
      if (failed === 'unknown') throw leftOpen(error)
      if (failed === 'check') await confirm()
      throw error
    } finally {
      cancel()
    }
  }

  /**
   * A caller that waits too long is informed that nothing was written. That is true: if something
   * was, the session was validated after that, so the turn's mark was passed before its reply came.
   */
  async #confirm(mark = this.#check.mark()): Promise<void> {
    if (this.#check.confirmed(mark)) return
    const refused = Promise.withResolvers<never>()
    const cancel = this.#env.after(patienceMs, () => this.#refuseWhenClosed(refused.reject))
    try {
      await Promise.race([this.#check.confirm(), refused.promise])
    } finally {
      cancel()
      this.#refusals.delete(refused.reject)
    }
  }

  #refuseWhenClosed(refuse: (reason: unknown) => void): void {
    this.#refusals.add(refuse)
    const { closing } = this.#check
    if (this.#received === closing) return
    this.#received = closing
    void closing.then(() => {
      this.#received = undefined
      for (const each of this.#refusals) each(outOfReach())
      this.#refusals.clear()
    })
  }
}

/**
 * Refuses a turn while the ownership check is closed: its reply could never leave. Throws
 * `unavailable` or, if the session has ended, `not_owner`.
 */
export function requireOpen({ state }: Pick<OwnershipCheck, 'state'>): void {
  if (state === 'closed') throw outOfReach()
  if (state === 'fenced') throw new ClusterError('not_owner', 'The session here is over.')
}

function outOfReach(): CodedError {
  return new ClusterError('unavailable', 'The store is out of reach and nothing was written: ask ' +
    'again in a moment.')
}

function tooLate(): CodedError {
  return new ClusterError('unavailable', 'What stands before this takes too long and nothing was ' +
    'written: ask again in a moment.')
}

function leftOpen(cause: unknown): CodedError {
  return new ClusterError('internal', 'Another member took over meanwhile and it is not known ' +
    'whether this was done.', { ambiguous: true }, { cause })
}

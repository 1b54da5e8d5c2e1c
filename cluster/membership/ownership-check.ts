/**
 * The check before every acknowledgement: it confirms what happened while the session lived.
 *
 *   1. A caller of `confirm` is let through by a validation, a read of the own session, that began
 *      after the call. One is under way at a time; calls that come meanwhile share the next one.
 *      `check-batcher.ts` says when it begins, which changes nothing about what it confirms.
 *   2. A validation that fails confirms nothing and refuses nothing: the check is closed, and
 *      asks again until it knows.
 *   3. Only a session that was *read* to have ended has ended. Then nothing is confirmed any more.
 *
 * No clock decides what is confirmed. What a member wrote before a validation that says `alive`
 * began is seen by whoever takes over from it, who first fences the session and reads only after
 * that.
 *
 * Rule: [validate_after].
 */

import { ClusterError } from '../errors.ts'
import type { Env } from '../runtime/env.ts'
import { CheckBatcher } from './check-batcher.ts'
import type { SessionState } from './session-port.ts'

/**
 * open    the last validation said `alive`
 * closed  the store cannot be reached: callers wait
 * fenced  the session was ended, by another member or by itself: nothing is confirmed any more
 */
export type OwnershipState = 'open' | 'closed' | 'fenced'

/** Tells whether this member may still acknowledge what it did. */
export interface OwnershipCheck {
  readonly state: OwnershipState
  /** Resolves when the ownership check is not open any more; at once if it is not open now. */
  readonly closing: Promise<void>
  /** Resolves when this session is known to have lived after this call; else `not_owner`. */
  confirm(): Promise<void>
  /** The present moment, in the order of validations. */
  mark(): number
  /** True if it is known already that the session lived after `mark` was made. */
  confirmed(mark: number): boolean
}

/** The read of the own session, and the listener that learns of its end. */
export interface SessionOwnershipCheckOptions {
  readonly env: Env
  /** Reads the own session. A throw means that the store cannot be reached. */
  validate(): Promise<SessionState | undefined>
  /** Called once, with a message, when the session was read to have ended. */
  onFenced(reason: string): void
}

const reasons = {
  fenced: 'Another member fenced the session of this one and takes over.',
  left: 'The session of this member was ended.',
  missing: 'The store does not know the session of this member any more.',
} as const

/** The ownership check of a member with a session. */
export class SessionOwnershipCheck implements OwnershipCheck {
  readonly #options: SessionOwnershipCheckOptions
  readonly #batcher: CheckBatcher
  #state: OwnershipState = 'open'
  #closing = Promise.withResolvers<void>()
  /** Validations are numbered from 1 in the order in which they begin. */
  #begun = 0
  #newestAlive = 0
  /** Waiting callers, by the last validation begun when they came: any later one will do. */
  readonly #riders = new Map<number, PromiseWithResolvers<void>>()
  /** Reason for which nothing is confirmed any more. */
  #reason: string = reasons.left

  constructor(options: SessionOwnershipCheckOptions) {
    this.#options = options
    this.#batcher = new CheckBatcher({ env: options.env, begin: () => void this.#validate() })
  }

  get state(): OwnershipState {
    return this.#state
  }

  get closing(): Promise<void> {
    return this.#closing.promise
  }

  confirm(): Promise<void> {
    if (this.#state === 'fenced') return Promise.reject(this.#refusal())
    let riders = this.#riders.get(this.#begun)
    if (!riders) this.#riders.set(this.#begun, riders = newRiders())
    this.#resume()
    return riders.promise
  }

  mark(): number {
    return this.#begun
  }

  confirmed(mark: number): boolean {
    return this.#newestAlive > mark
  }

  /** Confirms nothing more, because the session is about to leave. `onFenced` is not called. */
  shut(): void {
    this.#state = 'fenced'
    this.#closing.resolve()
    this.#batcher.stop()
    for (const riders of this.#riders.values()) riders.reject(this.#refusal())
    this.#riders.clear()
  }

  /** Makes sure that everybody who waits will get an answer. */
  #resume(): void {
    if (this.#riders.size > 0) this.#batcher.request(this.#state === 'closed')
  }

  async #validate(): Promise<void> {
    if (this.#ended) return
    const number = ++this.#begun
    const handle = await this.#options.validate().then(
      (state) => () => this.#handle(number, state ?? 'missing'),
      (error: unknown) => () => this.#close(error),
    )
    // Shut meanwhile: an ended session acknowledges nothing, even if it lived when it was read.
    if (this.#ended) return
    this.#batcher.ended()
    handle()
    this.#resume()
  }

  #handle(number: number, state: SessionState | 'missing'): void {
    if (state === 'alive') return this.#letThrough(number)
    this.#reason = reasons[state]
    this.shut()
    this.#options.onFenced(this.#reason)
  }

  #letThrough(number: number): void {
    if (this.#state === 'closed') {
      this.#options.env.log.info('The store is in reach again.')
      this.#closing = Promise.withResolvers()
    }
    this.#state = 'open'
    this.#newestAlive = number
    for (const [mark, riders] of this.#riders) {
      if (mark >= number) continue
      this.#riders.delete(mark)
      riders.resolve()
    }
  }

  /** Callers that share the failed validation keep waiting. */
  #close(error: unknown): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#closing.resolve()
    this.#options.env.log.warn('The store is out of reach: nothing is acknowledged until it is ' +
      'back.', { error })
  }

  /** A getter, because it may change while something is awaited. */
  get #ended(): boolean {
    return this.#state === 'fenced'
  }

  #refusal(): ClusterError {
    return new ClusterError('not_owner', this.#reason)
  }
}

function newRiders(): PromiseWithResolvers<void> {
  const riders = Promise.withResolvers<void>()
  // Many share it, and perhaps none of them listens yet.
  riders.promise.catch(() => {})
  return riders
}

/**
 * The check before every acknowledgement: it confirms what happened while the session lived.
 *
 *   1. A caller of `confirm` is let through by a validation, a read of the own session, that began
 *      after the call. One is under way at a time; calls that come meanwhile share the next one. If
 *      many writers are on their way at that moment, it waits for them, for a few times as long as
 *      the last one took: the slower the store, the more share a validation, and the fewer reads it
 *      answers beside its writes. A writer that was waited for in vain is not waited for again.
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

import { HeddleError } from '../../src/errors.ts'
import type { Env } from '../runtime/env.ts'
import type { SessionState } from './session-port.ts'

/**
 * open    the last validation said `alive`
 * closed  the store cannot be reached: callers wait
 * fenced  the session was ended, by another member or by itself: nothing is confirmed any more
 */
export type OwnershipState = 'open' | 'closed' | 'fenced'

export interface OwnershipCheck {
  readonly state: OwnershipState
  /** Resolves when the ownership check is not open any more; at once if it is not open now. */
  readonly closing: Promise<void>
  /** Resolves when this session is known to have lived after this call; else `not_owner`. */
  confirm(): Promise<void>
  /** Announces a writer: it will pass when what it writes is written. */
  announce(): PendingWrite
  /** The present moment, in the order of validations. */
  mark(): number
  /** Whether it is known already that the session lived after `mark` was made. */
  confirmed(mark: number): boolean
}

export interface PendingWrite {
  /** As that of the ownership check; after it, the writer is on its way again, unless it left. */
  confirm(): Promise<void>
  /** The writer does not come any more, or is not to be waited for. */
  leave(): void
}

export interface SessionOwnershipCheckOptions {
  readonly env: Env
  /** Reads the own session. A throw means that the store cannot be reached. */
  validate(): Promise<SessionState | undefined>
  /** Called once, with a message, when the session was read to have ended. */
  onFenced(reason: string): void
  /** Writers on their way are waited for if there are at least this many; 16 by default. */
  readonly awaitedLeast?: number
}

/** How long a closed check waits before it asks again. */
const askAgainMs = 250
/**
 * A validation waits for writers this many times as long as the last one took, which is about how
 * long their writes take when many write. Measured: 32 writers get 7 % more done than with once as
 * long, with a third of the validations; writers that come at random wait no longer.
 */
const awaitedTimes = 8
/**
 * Few writers are not waited for: two may be steps of one actor, and a reader of the first would be
 * held up by the second. Measured: the first event of a lone actor comes after 17 ms instead of 30.
 */
const awaitedLeast = 16
/** It never waits longer: a store this slow is in trouble. */
const awaitedMsMax = 50

const reasons = {
  fenced: 'Another member fenced the session of this one and takes over.',
  left: 'The session of this member was ended.',
  missing: 'The store does not know the session of this member any more.',
} as const

export class SessionOwnershipCheck implements OwnershipCheck {
  readonly #options: SessionOwnershipCheckOptions
  #state: OwnershipState = 'open'
  #closing = Promise.withResolvers<void>()
  /** Validations are numbered from 1 in the order in which they begin. */
  #begun = 0
  #newestAlive = 0
  /** A validation is under way, or about to begin. */
  #due = false
  /** How long the last validation took. */
  #tookMs = 0
  /** Waiting callers, by the last validation begun when they came: any later one will do. */
  readonly #riders = new Map<number, PromiseWithResolvers<void>>()
  readonly #pendingWrites = new Set<PendingWrite>()
  /** The writers that the next validation waits for. */
  #awaited = new Set<PendingWrite>()
  /** Set while it waits for them. */
  #stopWaiting: (() => void) | undefined
  /** Set while a closed check waits before it asks again. */
  #stopAsking: (() => void) | undefined
  /** Why nothing is confirmed any more. */
  #reason: string = reasons.left

  constructor(options: SessionOwnershipCheckOptions) {
    this.#options = options
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
    if (!riders) {
      this.#riders.set(this.#begun, riders = newRiders())
      const { awaitedLeast: least = awaitedLeast } = this.#options
      this.#awaited = new Set(this.#pendingWrites.size >= least ? this.#pendingWrites : [])
    }
    this.#resume()
    return riders.promise
  }

  announce(): PendingWrite {
    let left = false
    const pendingWrite: PendingWrite = {
      confirm: async () => {
        this.#arrived(pendingWrite)
        await this.confirm()
        if (!left) this.#pendingWrites.add(pendingWrite)
      },
      leave: () => {
        left = true
        this.#arrived(pendingWrite)
        this.#resume()
      },
    }
    this.#pendingWrites.add(pendingWrite)
    return pendingWrite
  }

  mark(): number {
    return this.#begun
  }

  confirmed(mark: number): boolean {
    return this.#newestAlive > mark
  }

  /** From now on nobody passes, because the session is about to leave. `onFenced` is not called. */
  shut(): void {
    this.#state = 'fenced'
    this.#closing.resolve()
    this.#stopAsking?.()
    this.#stopWaiting?.()
    for (const riders of this.#riders.values()) riders.reject(this.#refusal())
    this.#riders.clear()
  }

  /** Makes sure that everybody who waits will get an answer. */
  #resume(): void {
    if (this.#riders.size === 0 || this.#due) return
    const { env } = this.#options
    if (this.#state === 'closed') {
      this.#stopAsking ??= env.after(askAgainMs, () => {
        this.#stopAsking = undefined
        this.#due = true
        void this.#validate()
      })
    } else if (this.#awaited.size > 0) {
      const waitMs = Math.min(awaitedTimes * this.#tookMs, awaitedMsMax)
      this.#stopWaiting ??= env.after(waitMs, () => {
        for (const pendingWrite of this.#awaited) this.#arrived(pendingWrite)
        this.#resume()
      })
    } else {
      this.#due = true
      // Not at once: whatever else completes in this tick shares it.
      queueMicrotask(() => void this.#validate())
    }
  }

  #arrived(pendingWrite: PendingWrite): void {
    this.#pendingWrites.delete(pendingWrite)
    this.#awaited.delete(pendingWrite)
  }

  async #validate(): Promise<void> {
    if (this.#ended) return
    this.#stopWaiting?.()
    this.#stopWaiting = undefined
    const number = ++this.#begun
    const { env } = this.#options
    const beganMs = env.monotonicMs()
    const handle = await this.#options.validate().then(
      (state) => () => this.#handle(number, state ?? 'missing'),
      (error: unknown) => () => this.#close(error),
    )
    this.#due = false
    this.#tookMs = env.monotonicMs() - beganMs
    // Shut meanwhile: an ended session acknowledges nothing, even if it lived when it was read.
    if (this.#ended) return
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

  #refusal(): HeddleError {
    return new HeddleError('not_owner', this.#reason)
  }
}

function newRiders(): PromiseWithResolvers<void> {
  const riders = Promise.withResolvers<void>()
  // Many share it, and perhaps none of them listens yet.
  riders.promise.catch(() => {})
  return riders
}

/**
 * The gate before every acknowledgement: it lets through what happened while the session lived.
 *
 *   1. Who passes is let through by a validation, a read of the own session, that began after he
 *      came. One validation is under way at a time; whoever comes meanwhile rides the next one.
 *   2. A validation that fails lets nobody through and turns nobody away: the gate is closed, and
 *      asks again until it knows.
 *   3. Only a session that was *read* to be over is over. Then nobody passes any more.
 *
 * No clock says who may pass. What a member wrote before a validation that says `alive` began, is
 * seen by whoever takes over from it: he fences the session first, and reads afterwards.
 */

import { HeddleError } from '../src/errors.ts'
import type { Env } from './env.ts'
import type { SessionState } from './session-port.ts'

/**
 * open    the last validation said `alive`
 * closed  the store is out of reach: those who came wait
 * fenced  the session is over, by another member's doing or by its own: nobody passes any more
 */
export type GateState = 'open' | 'closed' | 'fenced'

export interface Gate {
  readonly state: GateState
  /** Resolves when this session is known to have lived after this call; else `not_owner`. */
  pass(): Promise<void>
  /** Now, in the order of validations. */
  mark(): number
  /** Whether the session is known already to have lived after `mark` was made. */
  passed(mark: number): boolean
}

export interface SessionGateOptions {
  readonly env: Env
  /** Reads the own session. A throw says that the store is out of reach. */
  validate(): Promise<SessionState | undefined>
  /** Called once, with a sentence, when the session was read to be over. */
  onFenced(reason: string): void
}

/** How long a closed gate waits before it asks again. */
const askAgainMs = 250

const reasons = {
  fenced: 'Another member fenced the session of this one and takes over.',
  left: 'The session of this member was ended.',
  missing: 'The store does not know the session of this member any more.',
} as const

export class SessionGate implements Gate {
  readonly #options: SessionGateOptions
  #state: GateState = 'open'
  /** Validations are numbered from 1 in the order in which they begin. */
  #begun = 0
  #newestAlive = 0
  /** A validation is due or under way; also while the gate is closed. */
  #validating = false
  /** Those who wait for the next validation to begin. */
  #riders: PromiseWithResolvers<void> | undefined
  #stopAsking = () => {}
  /** Why nobody passes any more. */
  #reason: string = reasons.left

  constructor(options: SessionGateOptions) {
    this.#options = options
  }

  get state(): GateState { return this.#state }

  pass(): Promise<void> {
    if (this.#state === 'fenced') return Promise.reject(this.#refusal())
    this.#riders ??= newRiders()
    if (!this.#validating) {
      this.#validating = true
      // Not at once: what else completed in this tick rides along.
      queueMicrotask(() => void this.#validate())
    }
    return this.#riders.promise
  }

  mark(): number { return this.#begun }

  passed(mark: number): boolean { return this.#newestAlive > mark }

  /** From now on nobody passes: the session is about to leave. Nobody is told. */
  shut(): void {
    this.#state = 'fenced'
    this.#stopAsking()
    this.#riders?.reject(this.#refusal())
    this.#riders = undefined
  }

  async #validate(): Promise<void> {
    if (this.#state === 'fenced') return
    const number = ++this.#begun
    const riders = this.#riders
    this.#riders = undefined
    const read = await this.#read()
    // Shut meanwhile: an ended session acknowledges nothing, though it lived when it was asked.
    if (this.#over) return riders?.reject(this.#refusal())
    if (read === 'alive') return this.#letThrough(number, riders)
    if (read === 'unknown') return this.#askAgain(riders)
    this.#reason = reasons[read]
    this.shut()
    riders?.reject(this.#refusal())
    this.#options.onFenced(this.#reason)
  }

  async #read(): Promise<SessionState | 'missing' | 'unknown'> {
    try {
      return await this.#options.validate() ?? 'missing'
    } catch (error) {
      if (this.#state === 'open') this.#warn(error)
      return 'unknown'
    }
  }

  #letThrough(number: number, riders: PromiseWithResolvers<void> | undefined): void {
    if (this.#state === 'closed') this.#options.env.log.info('The store is in reach again.')
    this.#state = 'open'
    this.#newestAlive = number
    riders?.resolve()
    this.#validating = this.#riders !== undefined
    if (this.#validating) void this.#validate()
  }

  /** Those of the failed validation wait on, with those who came meanwhile. */
  #askAgain(riders: PromiseWithResolvers<void> | undefined): void {
    this.#state = 'closed'
    if (this.#riders === undefined) this.#riders = riders
    else if (riders !== undefined) this.#riders.promise.then(riders.resolve, riders.reject)
    this.#stopAsking = this.#options.env.after(askAgainMs, () => void this.#validate())
  }

  /** Apart, because it may change while something is awaited. */
  get #over(): boolean { return this.#state === 'fenced' }

  #refusal(): HeddleError {
    return new HeddleError('not_owner', this.#reason)
  }

  #warn(error: unknown): void {
    this.#options.env.log.warn('The store is out of reach: nothing is acknowledged until it is ' +
      'back.', { error })
  }
}

function newRiders(): PromiseWithResolvers<void> {
  const riders = Promise.withResolvers<void>()
  // Many share it, and none of them may have come to listen yet.
  riders.promise.catch(() => {})
  return riders
}

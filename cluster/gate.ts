/**
 * The gate before every acknowledgement: it lets through what happened while the session lived.
 *
 *   1. Who passes is let through by a validation, a read of the own session, that began after he
 *      came. One is under way at a time, and whoever comes meanwhile rides the next one. Where many
 *      were on their way when he came, that one waits for them, some times as long as the last one
 *      took: the slower the store, the more ride together, and the less they keep it from its
 *      writes. Who was waited for in vain is not waited for again.
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
  /** Resolves when the gate is not open any more, at once where it is not now. */
  readonly closing: Promise<void>
  /** Resolves when this session is known to have lived after this call; else `not_owner`. */
  pass(): Promise<void>
  /** Somebody is on his way: what he writes is to pass when it is written. */
  approach(): Passage
  /** Now, in the order of validations. */
  mark(): number
  /** Whether the session is known already to have lived after `mark` was made. */
  passed(mark: number): boolean
}

export interface Passage {
  /** As that of the gate; he who passed is on his way again, unless he left. */
  pass(): Promise<void>
  /** He does not come any more, or nobody is to wait for him. */
  leave(): void
}

export interface SessionGateOptions {
  readonly env: Env
  /** Reads the own session. A throw says that the store is out of reach. */
  validate(): Promise<SessionState | undefined>
  /** Called once, with a sentence, when the session was read to be over. */
  onFenced(reason: string): void
  /** So many others on their way are waited for, and fewer are not; 16 unless told. */
  readonly awaitedLeast?: number
}

/** How long a closed gate waits before it asks again. */
const askAgainMs = 250
/**
 * A validation waits for those on their way so many times as long as the last one took, which is
 * about how long their writes take when many write. Measured: 32 writers get 7 % more done than
 * with once as long, by a third of the validations; those who come at random hear no later.
 */
const awaitedTimes = 8
/**
 * Few are not waited for: two may be steps of one actor, and whoever waits for the first would be
 * held up by the second. Measured: what a lone actor tells first comes after 17 ms instead of 30.
 */
const awaitedLeast = 16
/** The most that it waits: a store so slow is in trouble. */
const awaitedMsMax = 50

const reasons = {
  fenced: 'Another member fenced the session of this one and takes over.',
  left: 'The session of this member was ended.',
  missing: 'The store does not know the session of this member any more.',
} as const

export class SessionGate implements Gate {
  readonly #options: SessionGateOptions
  #state: GateState = 'open'
  #closing = Promise.withResolvers<void>()
  /** Validations are numbered from 1 in the order in which they begin. */
  #begun = 0
  #newestAlive = 0
  /** A validation is under way, or about to begin. */
  #due = false
  /** How long the last validation took. */
  #tookMs = 0
  /** Those who wait, by the last validation that had begun when they came: a later one will do. */
  readonly #riders = new Map<number, PromiseWithResolvers<void>>()
  readonly #approaching = new Set<Passage>()
  /** Those whom the next validation waits for. */
  #awaited = new Set<Passage>()
  /** Set while it waits for them. */
  #stopWaiting: (() => void) | undefined
  /** Set while a closed gate waits before it asks again. */
  #stopAsking: (() => void) | undefined
  /** Why nobody passes any more. */
  #reason: string = reasons.left

  constructor(options: SessionGateOptions) {
    this.#options = options
  }

  get state(): GateState { return this.#state }

  get closing(): Promise<void> { return this.#closing.promise }

  pass(): Promise<void> {
    if (this.#state === 'fenced') return Promise.reject(this.#refusal())
    let riders = this.#riders.get(this.#begun)
    if (!riders) {
      this.#riders.set(this.#begun, riders = newRiders())
      const { awaitedLeast: least = awaitedLeast } = this.#options
      this.#awaited = new Set(this.#approaching.size >= least ? this.#approaching : [])
    }
    this.#goOn()
    return riders.promise
  }

  approach(): Passage {
    let left = false
    const passage: Passage = {
      pass: async () => {
        this.#arrived(passage)
        await this.pass()
        if (!left) this.#approaching.add(passage)
      },
      leave: () => {
        left = true
        this.#arrived(passage)
        this.#goOn()
      },
    }
    this.#approaching.add(passage)
    return passage
  }

  mark(): number { return this.#begun }

  passed(mark: number): boolean { return this.#newestAlive > mark }

  /** From now on nobody passes: the session is about to leave. Nobody is told. */
  shut(): void {
    this.#state = 'fenced'
    this.#closing.resolve()
    this.#stopAsking?.()
    this.#stopWaiting?.()
    for (const riders of this.#riders.values()) riders.reject(this.#refusal())
    this.#riders.clear()
  }

  /** Sees to it that everybody who waits will hear. */
  #goOn(): void {
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
        for (const passage of this.#awaited) this.#arrived(passage)
        this.#goOn()
      })
    } else {
      this.#due = true
      // Not at once: what else completes in this tick rides along.
      queueMicrotask(() => void this.#validate())
    }
  }

  #arrived(passage: Passage): void {
    this.#approaching.delete(passage)
    this.#awaited.delete(passage)
  }

  async #validate(): Promise<void> {
    if (this.#over) return
    this.#stopWaiting?.()
    this.#stopWaiting = undefined
    const number = ++this.#begun
    const { env } = this.#options
    const beganMs = env.monotonicMs()
    const hear = await this.#options.validate().then(
      (state) => () => this.#hear(number, state ?? 'missing'),
      (error: unknown) => () => this.#close(error))
    this.#due = false
    this.#tookMs = env.monotonicMs() - beganMs
    // Shut meanwhile: an ended session acknowledges nothing, though it lived when it was asked.
    if (this.#over) return
    hear()
    this.#goOn()
  }

  #hear(number: number, state: SessionState | 'missing'): void {
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

  /** Those who ride the failed validation wait on. */
  #close(error: unknown): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#closing.resolve()
    this.#options.env.log.warn('The store is out of reach: nothing is acknowledged until it is ' +
      'back.', { error })
  }

  /** Apart, because it may change while something is awaited. */
  get #over(): boolean { return this.#state === 'fenced' }

  #refusal(): HeddleError {
    return new HeddleError('not_owner', this.#reason)
  }
}

function newRiders(): PromiseWithResolvers<void> {
  const riders = Promise.withResolvers<void>()
  // Many share it, and none of them may have come to listen yet.
  riders.promise.catch(() => {})
  return riders
}

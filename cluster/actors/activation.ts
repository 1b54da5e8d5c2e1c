/**
 * One life of an actor in this process, from `activate` to `passivate`.
 *
 *   1. Turns are taken only between the two: envelopes wait before, and are handed on after.
 *   2. The next life begins only when `passivate` has returned, so that two lives of one actor
 *      never overlap here.
 *   3. A life that fails answers every envelope that waited for it.
 */

import type { Log } from '../runtime/env.ts'
import type { ActorKey } from './actor-key.ts'
import type { Actor, ActorContext, ActorKind } from './actor.ts'
import { Mailbox } from './mailbox.ts'
import type { Operation, Envelope } from './mailbox.ts'

/**
 * activating   `activate` is under way; envelopes wait
 * active       turns are taken
 * passivating  `passivate` is under way; envelopes wait for the next life
 * ended        over; envelopes that waited were handed on
 */
export type ActivationState = 'activating' | 'active' | 'passivating' | 'ended'

/** Identity, log, mailbox and callbacks of one life of an actor. */
export interface ActivationOptions {
  readonly kind: ActorKind
  readonly key: ActorKey
  readonly epoch: number
  readonly log: Log
  readonly mailboxBound: number
  /** Envelopes that still waited when the previous life ended. */
  readonly envelopes: readonly Envelope[]
  /**
   * Called once, at the end, with the envelopes that still wait. `broken`: it failed while
   * something was under way.
   */
  ended(envelopes: readonly Envelope[], broken: boolean): void
  /** Called once, if it failed. */
  failed(reason: unknown): void
}

/** One life of one actor. It begins as soon as it is made. */
export class Activation {
  /** Time of the last request, by the monotonic clock. */
  usedMs = 0
  readonly #options: ActivationOptions
  readonly #mailbox: Mailbox
  readonly #ended = Promise.withResolvers<void>()
  readonly #settled: Promise<void>
  #state: ActivationState = 'activating'
  #actor: Actor | undefined
  #broken = false
  /** It is to sleep when the last reply that it owes is given. */
  #isSleepy = false

  constructor(options: ActivationOptions) {
    this.#options = options
    this.#mailbox = new Mailbox({
      bound: options.mailboxBound,
      envelopes: options.envelopes,
      broken: (reason) => this.#fail(reason),
      paid: () => {
        if (this.#isSleepy) this.#sleep(true)
      },
    })
    // Not at once: the caller of this constructor must hold this activation first.
    this.#settled = Promise.resolve().then(() => this.#activate())
  }

  get key(): ActorKey {
    return this.#options.key
  }

  get state(): ActivationState {
    return this.#state
  }

  /** Count of commands that wait for their turn. */
  get waiting(): number {
    return this.#mailbox.waiting
  }

  /** Something is under way, waits, or holds it: it must not be passivated for idleness. */
  get occupied(): boolean {
    return this.#state !== 'active' || !this.#mailbox.idle || this.#actor!.occupied
  }

  /** The reply to one turn of the actor; rejects with `full` if too many wait. */
  post(operation: Operation): Promise<unknown> {
    this.#isSleepy = false
    return this.#mailbox.post(operation)
  }

  /**
   * Ends it after the current turn. If something is in progress, turns are still taken until that
   * has come to rest; otherwise none begins from now on. Resolves when it has ended. Never throws.
   */
  async passivate(deadline: AbortSignal): Promise<void> {
    if (this.#state === 'activating') await this.#settled
    if (this.#state === 'active' && this.#actor!.occupied) await this.#rest(deadline)
    if (this.#state === 'active') {
      this.#state = 'passivating'
      await this.#mailbox.shut()
      await this.#release(deadline)
    }
    await this.#ended.promise
  }

  async #rest(deadline: AbortSignal): Promise<void> {
    try {
      await Promise.race([this.#actor!.rest?.(deadline), this.#ended.promise])
    } catch (error) {
      this.#warn('An actor did not come to rest.', error)
    }
  }

  async #activate(): Promise<void> {
    const { kind, key, epoch } = this.#options
    const context: ActorContext = {
      key,
      epoch,
      notify: (command) => this.#notify(command),
      fail: (reason) => this.#fail(reason),
      sleep: (onceReplied) => this.#sleep(onceReplied),
    }
    try {
      this.#actor = kind.create(context)
      await this.#actor.activate()
    } catch (error) {
      this.#fail(error)
      return this.#end()
    }
    if (this.#state !== 'activating') return await this.#release(AbortSignal.abort())
    this.#state = 'active'
    this.#mailbox.open(this.#actor)
  }

  #notify(command: unknown): void {
    if (this.#state !== 'activating' && this.#state !== 'active') return
    this.#isSleepy = false
    const sent = this.#mailbox.postUnbounded((actor) => actor.receive(command))
    sent.catch((error: unknown) => {
      if (this.#state === 'active') this.#warn('An actor could not do what it sent itself.', error)
    })
  }

  /** Passivates after the turn that asks for it, unless the actor is occupied then. */
  #sleep(onceReplied = false): void {
    this.#isSleepy = onceReplied
    queueMicrotask(() => {
      if (!this.occupied) void this.passivate(new AbortController().signal)
    })
  }

  #fail(reason: unknown): void {
    const active = this.#state === 'active'
    if (!active && this.#state !== 'activating') return
    this.#state = 'passivating'
    this.#broken = active && this.#actor!.occupied
    this.#options.failed(reason)
    this.#mailbox.fail(reason)
    if (active) void this.#release(AbortSignal.abort())
  }

  async #release(deadline: AbortSignal): Promise<void> {
    // Never inside the turn that failed.
    await Promise.resolve()
    try {
      await this.#actor!.passivate(deadline)
    } catch (error) {
      this.#warn('An actor did not let go in peace.', error)
    }
    this.#end()
  }

  #end(): void {
    this.#state = 'ended'
    this.#ended.resolve()
    this.#options.ended(this.#mailbox.takeEnvelopes(), this.#broken)
  }

  #warn(message: string, error: unknown): void {
    this.#options.log.warn(message, { key: this.#options.key, error })
  }
}

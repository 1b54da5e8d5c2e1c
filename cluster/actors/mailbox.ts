/**
 * The envelopes that wait for one actor, and whose turn it is.
 *
 *   1. One turn at a time: the next begins when the one before it has made its decision.
 *   2. Turns are taken in the order of the envelopes.
 *   3. An envelope that finds the mailbox open and empty has its turn at once, in the same tick.
 *   4. Every envelope is answered: by its turn, by `fail`, or by the mailbox that takes it over.
 */

import { asCoded, ClusterError, CodedError } from '../errors.ts'
import type { Actor, Turn } from './actor.ts'

/** One turn of the actor, as an envelope asks for it. */
export type Operation = (actor: Actor) => Turn | Promise<Turn>

/** A turn that waits, and the promise of its reply. */
export interface Envelope {
  readonly operation: Operation
  readonly promise: Promise<unknown>
  resolve(reply: unknown): void
  reject(reason: unknown): void
}

/** Bound of a mailbox, and the envelopes that it begins with. */
export interface MailboxOptions {
  /** Envelopes that may wait; the next is answered `full`. */
  readonly bound: number
  /** Envelopes that waited in the mailbox before this one. */
  readonly envelopes: readonly Envelope[]
  /** A turn threw something other than a CodedError: the actor cannot be trusted any more. */
  broken(reason: unknown): void
  /** The last reply that was owed has been given. */
  paid(): void
}

/** After this many turns in one tick, the rest of the process gets a chance. */
const turnsPerTick = 256

/** Begins shut: envelopes wait until `open`. */
export class Mailbox {
  readonly #bound: number
  readonly #broken: (reason: unknown) => void
  readonly #paid: () => void
  readonly #envelopes: Envelope[]
  /** The actor that takes the turns; undefined while the mailbox is shut. */
  #actor: Actor | undefined
  /** From the start of a turn to its decision; also while turns rest until the next tick. */
  #turning = false
  /** The envelope of a turn that takes more than a tick. */
  #underWay: Envelope | undefined
  #turnOver: (() => void) | undefined
  #failure: CodedError | undefined
  /** Count of promised replies that are still to come. */
  #owed = 0

  constructor(options: MailboxOptions) {
    this.#bound = options.bound
    this.#broken = options.broken
    this.#paid = options.paid
    this.#envelopes = [...options.envelopes]
  }

  /** No turn is under way, nothing waits, no reply is owed. */
  get idle(): boolean {
    return !this.#turning && this.#envelopes.length === 0 && this.#owed === 0
  }

  /** Count of envelopes that wait for their turn. */
  get waiting(): number {
    return this.#envelopes.length
  }

  /** The reply to `operation`; rejects with `full` if too many wait. */
  post(operation: Operation): Promise<unknown> {
    if (this.#actor === undefined || this.#turning) return this.#wait(operation, this.#bound)
    return this.#turnAtOnce(this.#actor, operation)
  }

  /** As `post`, but without a bound: for an actor's commands to itself, which must not get lost. */
  postUnbounded(operation: Operation): Promise<unknown> {
    if (this.#actor === undefined || this.#turning) return this.#wait(operation, Infinity)
    return this.#turnAtOnce(this.#actor, operation)
  }

  /** Turns are taken from now on. */
  open(actor: Actor): void {
    this.#actor = actor
    this.#work()
  }

  /** No turn begins any more. Resolves when the one under way has ended. */
  async shut(): Promise<void> {
    this.#actor = undefined
    if (this.#underWay === undefined) return
    await new Promise<void>((resolve) => {
      this.#turnOver = resolve
    })
  }

  /** Shuts at once and rejects every envelope, that of the turn under way included. */
  fail(reason: unknown): void {
    this.#actor = undefined
    this.#failure = asCoded(reason)
    this.#underWay?.reject(this.#failure)
    this.#endTurn()
    for (const envelope of this.takeEnvelopes()) envelope.reject(unprocessed(reason))
  }

  /** Removes and returns those that wait, for the next mailbox. */
  takeEnvelopes(): Envelope[] {
    return this.#envelopes.splice(0)
  }

  #wait(operation: Operation, bound: number): Promise<unknown> {
    if (this.#envelopes.length >= bound) return Promise.reject(new ClusterError('full'))
    const envelope = newEnvelope(operation)
    this.#envelopes.push(envelope)
    return envelope.promise
  }

  #turnAtOnce(actor: Actor, operation: Operation): Promise<unknown> {
    this.#turning = true
    const reply = this.#turn(actor, operation)
    if (this.#underWay === undefined) this.#work()
    return reply
  }

  /** Takes turns until none waits, one takes longer than a tick, or others must get a chance. */
  #work(): void {
    for (let turns = 0; turns < turnsPerTick; turns++) {
      const envelope = this.#actor === undefined ? undefined : this.#envelopes.shift()
      this.#turning = envelope !== undefined
      if (envelope === undefined) return
      envelope.resolve(this.#turn(this.#actor!, envelope.operation))
      if (this.#underWay !== undefined) return
    }
    setImmediate(() => this.#work())
  }

  #turn(actor: Actor, operation: Operation): Promise<unknown> {
    try {
      const turn = operation(actor)
      return turn instanceof Promise ? this.#longTurn(operation, turn) : this.#answer(turn)
    } catch (error) {
      return this.#refuse(error)
    }
  }

  #longTurn(operation: Operation, turn: Promise<Turn>): Promise<unknown> {
    const envelope = newEnvelope(operation)
    this.#underWay = envelope
    const ended = (answer: () => Promise<unknown>) => {
      // If `fail` came first, the caller has been answered, so this answer is dropped.
      if (this.#underWay !== envelope) return void answer().catch(() => {})
      this.#endTurn()
      envelope.resolve(answer())
      this.#work()
    }
    turn.then((made) => ended(() => this.#answer(made)),
      (error) => ended(() => this.#refuse(error)))
    return envelope.promise
  }

  #endTurn(): void {
    this.#underWay = undefined
    this.#turning = false
    this.#turnOver?.()
  }

  #answer({ reply }: Turn): Promise<unknown> {
    if (reply instanceof Promise) {
      this.#owed++
      const paid = () => {
        this.#owed--
        if (this.#owed === 0) this.#paid()
      }
      reply.then(paid, paid)
    }
    // The reply of a turn that failed its own actor cannot be believed.
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    return reply instanceof Promise ? reply : Promise.resolve(reply)
  }

  #refuse(error: unknown): Promise<unknown> {
    if (!(error instanceof CodedError)) this.#broken(error)
    return Promise.reject(asCoded(error))
  }
}

function newEnvelope(operation: Operation): Envelope {
  return { operation, ...Promise.withResolvers<unknown>() }
}

/**
 * The error for an envelope whose turn never began: nothing was done, so its caller may ask again.
 */
function unprocessed(reason: unknown): CodedError {
  if (reason instanceof CodedError) return reason
  return new ClusterError('unavailable', 'The actor failed before it began this; ask again.', {}, {
    cause: reason,
  })
}

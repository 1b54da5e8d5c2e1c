/**
 * The letters that wait for one actor, and whose turn it is.
 *
 *   1. One turn at a time: the next begins when the one before it has made its decision.
 *   2. Turns are taken in the order of the letters.
 *   3. A letter that finds the mailbox open and empty has its turn at once, in the same tick.
 *   4. Every letter is answered: by its turn, by `fail`, or by the mailbox that takes it over.
 */

import { HeddleError } from '../../src/errors.ts'
import type { Actor, Turn } from './actor.ts'

/** What a letter asks of the actor: one turn. */
export type Act = (actor: Actor) => Turn | Promise<Turn>

/** An act that waits, and the promise of its reply. */
export interface Letter {
  readonly act: Act
  readonly promise: Promise<unknown>
  resolve(reply: unknown): void
  reject(reason: unknown): void
}

export interface MailboxOptions {
  /** Letters that may wait; the next is answered `full`. */
  readonly bound: number
  /** Letters that waited in the mailbox before this one. */
  readonly letters: readonly Letter[]
  /** A turn threw something other than a HeddleError: the actor cannot be trusted any more. */
  broken(reason: unknown): void
}

/** After this many turns in one tick, the rest of the process gets a chance. */
const turnsPerTick = 256

/** Begins shut: letters wait until `open`. */
export class Mailbox {
  readonly #bound: number
  readonly #broken: (reason: unknown) => void
  readonly #letters: Letter[]
  /** The actor that takes the turns; undefined while the mailbox is shut. */
  #actor: Actor | undefined
  /** From the start of a turn to its decision; also while turns rest until the next tick. */
  #turning = false
  /** The letter of a turn that takes more than a tick. */
  #underWay: Letter | undefined
  #turnOver: (() => void) | undefined
  #failure: HeddleError | undefined
  /** How many promised replies are still to come. */
  #owed = 0

  constructor(options: MailboxOptions) {
    this.#bound = options.bound
    this.#broken = options.broken
    this.#letters = [...options.letters]
  }

  /** No turn is under way, nothing waits, no reply is owed. */
  get idle(): boolean {
    return !this.#turning && this.#letters.length === 0 && this.#owed === 0
  }

  /** How many wait for their turn. */
  get waiting(): number { return this.#letters.length }

  /** The reply to `act`; rejects with `full` if too many wait. */
  post(act: Act): Promise<unknown> {
    if (this.#actor === undefined || this.#turning) return this.#wait(act, this.#bound)
    return this.#turnAtOnce(this.#actor, act)
  }

  /** As `post`, but without a bound: for an actor's commands to itself, which must not get lost. */
  postUnbounded(act: Act): Promise<unknown> {
    if (this.#actor === undefined || this.#turning) return this.#wait(act, Infinity)
    return this.#turnAtOnce(this.#actor, act)
  }

  /** Turns are taken from now on. */
  open(actor: Actor): void {
    this.#actor = actor
    this.#work()
  }

  /** No turn begins any more. Resolves when the one under way is over. */
  async shut(): Promise<void> {
    this.#actor = undefined
    if (this.#underWay === undefined) return
    await new Promise<void>((resolve) => { this.#turnOver = resolve })
  }

  /** Shuts at once and rejects every letter, that of the turn under way included. */
  fail(reason: unknown): void {
    this.#actor = undefined
    this.#failure = HeddleError.from(reason)
    this.#underWay?.reject(this.#failure)
    this.#endTurn()
    for (const letter of this.takeLetters()) letter.reject(unheard(reason))
  }

  /** Removes and returns those that wait, for the next mailbox. */
  takeLetters(): Letter[] {
    return this.#letters.splice(0)
  }

  #wait(act: Act, bound: number): Promise<unknown> {
    if (this.#letters.length >= bound) return Promise.reject(new HeddleError('full'))
    const letter = newLetter(act)
    this.#letters.push(letter)
    return letter.promise
  }

  #turnAtOnce(actor: Actor, act: Act): Promise<unknown> {
    this.#turning = true
    const reply = this.#turn(actor, act)
    if (this.#underWay === undefined) this.#work()
    return reply
  }

  /** Takes turns until none waits, one takes longer than a tick, or others must get a chance. */
  #work(): void {
    for (let turns = 0; turns < turnsPerTick; turns++) {
      const letter = this.#actor === undefined ? undefined : this.#letters.shift()
      this.#turning = letter !== undefined
      if (letter === undefined) return
      letter.resolve(this.#turn(this.#actor!, letter.act))
      if (this.#underWay !== undefined) return
    }
    setImmediate(() => this.#work())
  }

  #turn(actor: Actor, act: Act): Promise<unknown> {
    try {
      const turn = act(actor)
      return turn instanceof Promise ? this.#longTurn(act, turn) : this.#answer(turn)
    } catch (error) {
      return this.#refuse(error)
    }
  }

  #longTurn(act: Act, turn: Promise<Turn>): Promise<unknown> {
    const letter = newLetter(act)
    this.#underWay = letter
    const over = (answer: () => Promise<unknown>) => {
      // If `fail` came first, the caller has been answered: nobody waits for this answer.
      if (this.#underWay !== letter) return void answer().catch(() => {})
      this.#endTurn()
      letter.resolve(answer())
      this.#work()
    }
    turn.then((made) => over(() => this.#answer(made)), (error) => over(() => this.#refuse(error)))
    return letter.promise
  }

  #endTurn(): void {
    this.#underWay = undefined
    this.#turning = false
    this.#turnOver?.()
  }

  #answer({ reply }: Turn): Promise<unknown> {
    if (reply instanceof Promise) {
      this.#owed++
      const paid = () => { this.#owed-- }
      reply.then(paid, paid)
    }
    // The reply of a turn that failed its own actor cannot be believed.
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    return reply instanceof Promise ? reply : Promise.resolve(reply)
  }

  #refuse(error: unknown): Promise<unknown> {
    if (!(error instanceof HeddleError)) this.#broken(error)
    return Promise.reject(HeddleError.from(error))
  }
}

function newLetter(act: Act): Letter {
  return { act, ...Promise.withResolvers<unknown>() }
}

/** The error for a letter whose turn never began: nothing was done, so its caller may ask again. */
function unheard(reason: unknown): HeddleError {
  if (reason instanceof HeddleError) return reason
  return new HeddleError('unavailable', 'The actor failed before it heard this; ask again.', {},
    { cause: reason })
}

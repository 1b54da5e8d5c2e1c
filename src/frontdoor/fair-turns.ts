/** Turns, shared out by whom they are for: whoever wants many delays himself, and nobody else. */

import { HeddleError } from '../errors.ts'

export interface TurnRules {
  /** At the same time, for all together and for one. */
  readonly atOnce: number
  readonly atOnceEach: number
  /** Of one may wait. */
  readonly waitingEach: number
  /** Of all may wait; beyond it whoever has most waiting is turned away first. */
  readonly waitingMax: number
}

interface Line {
  underWay: number
  readonly waiting: PromiseWithResolvers<void>[]
}

export class FairTurns {
  readonly #rules: TurnRules
  /** Of those who have or want a turn; whose last one began longest ago first. */
  readonly #lines = new Map<string, Line>()
  #underWay = 0
  #waiting = 0

  constructor(rules: TurnRules) {
    this.#rules = rules
  }

  /** Does the work when it is its turn. Throws `full` where too much waits before it. */
  async take<T>(who: string, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(who) ?? { underWay: 0, waiting: [] }
    this.#lines.set(who, line)
    if (this.#mayBegin(line)) this.#begin(line)
    else await this.#wait(line)
    try {
      return await work()
    } finally {
      this.#end(who, line)
    }
  }

  #mayBegin({ underWay }: Line): boolean {
    return this.#underWay < this.#rules.atOnce && underWay < this.#rules.atOnceEach
  }

  #begin(line: Line): void {
    line.underWay++
    this.#underWay++
  }

  #wait(line: Line): Promise<void> {
    const { waitingEach, waitingMax } = this.#rules
    if (line.waiting.length >= waitingEach) throw new HeddleError('full')
    const turn = Promise.withResolvers<void>()
    line.waiting.push(turn)
    this.#waiting++
    if (this.#waiting > waitingMax) this.#turnOneAway()
    return turn.promise
  }

  #turnOneAway(): void {
    const [who, line] = [...this.#lines]
      .reduce((one, other) => other[1].waiting.length >= one[1].waiting.length ? other : one)
    this.#waiting--
    line.waiting.pop()!.reject(new HeddleError('full'))
    this.#forgetIdle(who, line)
  }

  #end(who: string, line: Line): void {
    line.underWay--
    this.#underWay--
    this.#forgetIdle(who, line)
    for (const [next, nextLine] of this.#lines) {
      if (nextLine.waiting.length === 0 || !this.#mayBegin(nextLine)) continue
      this.#lines.delete(next)
      this.#lines.set(next, nextLine)
      this.#begin(nextLine)
      this.#waiting--
      return nextLine.waiting.shift()!.resolve()
    }
  }

  #forgetIdle(who: string, { underWay, waiting }: Line): void {
    if (underWay === 0 && waiting.length === 0) this.#lines.delete(who)
  }
}

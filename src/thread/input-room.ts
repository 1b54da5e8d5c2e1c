/** The room of inputs: what is to be done on the threads of a process is added up, and refused. */

import { HeddleError } from '../errors.ts'

export class InputRoom {
  readonly #charactersMax: number
  readonly #held = new Map<object, number>()
  #characters = 0

  constructor(charactersMax: number) {
    this.#charactersMax = charactersMax
  }

  /** `holder` keeps so many characters in memory now. */
  hold(holder: object, characters: number): void {
    this.#characters += characters - this.#of(holder)
    if (characters === 0) this.#held.delete(holder)
    else this.#held.set(holder, characters)
  }

  /** Throws `full` where others hold all that there is room for. */
  mustBeLeft(holder: object): void {
    if (this.#characters - this.#of(holder) < this.#charactersMax) return
    throw new HeddleError('full', 'As much as there is room for waits on other threads already; ' +
      'try again when some of it is done.')
  }

  #of(holder: object): number {
    return this.#held.get(holder) ?? 0
  }
}

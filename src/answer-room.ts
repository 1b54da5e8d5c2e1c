/** A budget for answers: what is read for each is added up, and refused before it is too much. */

import { HeddleError } from './errors.ts'

/** Characters of one answer: strings have a maximum length. */
const answerMax = 128 * 1024 * 1024
/** Of all answers that are being built or read at the same time: they share the memory. */
const allMax = 4 * answerMax

let taken = 0

/** To be disposed of when the answer is built, or read, or given up. */
export class AnswerRoom implements Disposable {
  #taken = 0

  /**
   * Throws `too_large` if the answer gets too large with these texts, `unavailable` if all answers
   * together do.
   */
  take(...texts: readonly { readonly length: number }[]): void {
    this.hold(...texts)
    if (this.#taken > answerMax) {
      throw new HeddleError('too_large', 'The answer would be longer than ' +
        `${answerMax / 1024 / 1024} MB: ask for a smaller page with "limit".`)
    }
    if (taken > allMax) {
      throw new HeddleError('unavailable', 'Too many long answers are being gathered or read: ' +
        'ask again in a moment.')
    }
  }

  /** As `take`, but never throws: for an answer that exists already. */
  hold(...texts: readonly { readonly length: number }[]): void {
    for (const { length } of texts) this.#add(length)
  }

  [Symbol.dispose](): void {
    this.#add(-this.#taken)
  }

  #add(length: number): void {
    this.#taken += length
    taken += length
  }
}

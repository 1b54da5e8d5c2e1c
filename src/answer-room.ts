/** The room of answers: what is read for each is added up, and refused before it is too much. */

import { HeddleError } from './errors.ts'

/** Characters of one answer: texts have an end. */
const answerMax = 128 * 1024 * 1024
/** Of all that are gathered, or wait for their reader, at once: these share the memory. */
const allMax = 4 * answerMax

let taken = 0

/** To be disposed of when the answer is gathered, or read, or given up. */
export class AnswerRoom implements Disposable {
  #taken = 0

  /**
   * Throws `too_large` where these texts do not fit beside those that were taken before,
   * `unavailable` where they do not beside those of the other answers.
   */
  take(...texts: readonly { readonly length: number }[]): void {
    this.hold(...texts)
    if (this.#taken > answerMax) {
      throw new HeddleError('too_large', 'The answer would be longer than ' +
        `${answerMax / 1024 / 1024} MB: ask for a smaller page with "limit".`)
    }
    if (taken > allMax) {
      throw new HeddleError('unavailable', 'As many long answers as there is room for are being ' +
        'gathered or read: ask again in a moment.')
    }
  }

  /** As `take`, of what is there whether there is room for it or not. */
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

/** The room of one answer: what is read for it is added up, and refused before it is too much. */

import { HeddleError } from './errors.ts'

/** Characters of one answer: texts have an end, and those who read at once share the memory. */
const answerMax = 128 * 1024 * 1024

export class AnswerRoom {
  #left = answerMax

  /** Throws `too_large` where these texts do not fit beside those that were taken before. */
  take(...texts: readonly string[]): void {
    for (const { length } of texts) this.#left -= length
    if (this.#left >= 0) return
    throw new HeddleError('too_large', 'The answer would be longer than ' +
      `${answerMax / 1024 / 1024} MB: ask for a smaller page with "limit".`)
  }
}

/** The addresses of annotation queues. */

import { searchOf, text, wholeNumber } from './search.ts'

/** Reads what the list of queues shows. */
export const readQueueListSearch = searchOf({
  /** A part of the names. */
  q: text,
})

/** Reads what a queue shows. */
export const readQueueSearch = searchOf({
  /** Index from 0 among the items left to review; the first one without it. */
  at: wholeNumber(1),
})

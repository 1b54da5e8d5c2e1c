/** The address of limits and keys. */

import { oneOf, searchOf, text, wholeNumber } from './search.ts'

/** The parts of the page; the limits come first. */
export const limitViews = ['limits', 'keys', 'refused'] as const

/** Reads what the page shows. */
export const readLimitsSearch = searchOf({
  view: oneOf(limitViews),
  /** The id of a key whose limits are shown; by default those of the caller. */
  key: text,
  /** Filter of the keys: a part of a name or an id. */
  find: text,
  /** Keys that ended are shown too. */
  ended: oneOf(['yes']),
  /** Part of the list of keys, counted from 1; the first one without it. */
  page: wholeNumber(2),
})

/** Search parameters of the page of limits and keys, each absent if its text is invalid. */
export type LimitsSearch = ReturnType<typeof readLimitsSearch>

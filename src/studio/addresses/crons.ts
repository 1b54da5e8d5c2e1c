/** The address of the list of crons: its filter, and the cron in the editor. */

import { oneOf, searchOf, text } from './search.ts'

/** States by which crons are filtered. */
export const cronStates = ['on', 'paused'] as const

/** Reads what the page shows. */
export const readCronListSearch = searchOf({
  state: oneOf(cronStates),
  /** The id of an assistant. */
  assistant: text,
  /** The cron in the editor: its id, or `new`. */
  edit: text,
})

/** Search parameters of the list of crons, each absent if its text is invalid. */
export type CronListSearch = ReturnType<typeof readCronListSearch>

/** The addresses of prompts: what the list shows, and which versions of one. */

import { oneOf, searchOf, text } from './search.ts'

/** Reads what the list shows. */
export const readPromptListSearch = searchOf({ q: text, tag: text })

/** Reads what a prompt shows. */
export const readPromptSearch = searchOf({
  /** The version that is shown; the newest without it. */
  at: text,
  /** The version that it is compared with. */
  vs: text,
  view: oneOf(['json']),
})

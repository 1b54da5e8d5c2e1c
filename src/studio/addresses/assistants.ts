/** The address of the assistants: which one is shown, in which version, and what is done to it. */

import { oneOf, searchOf, text, wholeNumber } from './search.ts'

/** Reads what the page shows. */
export const readAssistantListSearch = searchOf({
  id: text,
  /** The version that is shown; the active one without it. */
  version: wholeNumber(1),
  /** The version that it is compared with; the one before without it. */
  vs: wholeNumber(1),
  act: oneOf(['new', 'edit', 'delete']),
  /** The graph of a new assistant. */
  graph: text,
})

/** Search parameters of the assistants page, each absent if its text is invalid. */
export type AssistantListSearch = ReturnType<typeof readAssistantListSearch>

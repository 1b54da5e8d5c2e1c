/** The address of the store: a namespace, what is looked for, and the item that is open. */

import { oneOf, searchOf, text, texts } from './search.ts'

/** Ways in which items are searched. */
export const searchKinds = ['words', 'meaning'] as const

/** Reads what the page shows. */
export const readStoreSearch = searchOf({
  /** Labels of a namespace; all namespaces without it. */
  ns: texts,
  q: text,
  by: oneOf(searchKinds),
  /** Labels and key of the item that is open. */
  item: texts,
  act: oneOf(['new', 'edit']),
})

/** Search parameters of the store, each absent if its text is invalid. */
export type StoreSearch = ReturnType<typeof readStoreSearch>

/** The address of the prices of models. */

import { searchOf, text } from './search.ts'

/** Reads what the page shows. */
export const readPricesSearch = searchOf({
  /** Words that names and providers contain. */
  q: text,
  /** The name of a model whose price is set: the form is open. */
  model: text,
})

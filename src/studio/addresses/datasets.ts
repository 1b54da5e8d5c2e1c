/** The addresses of datasets: which version, which examples, which experiments side by side. */

import { oneOf, searchOf, text } from './search.ts'

/** Reads what the list of datasets shows. */
export const readDatasetListSearch = searchOf({
  /** A part of the names. */
  q: text,
})

/** Reads what a dataset shows. */
export const readDatasetSearch = searchOf({
  view: oneOf(['examples', 'experiments']),
  /** A version, by its time or tag; the newest one without it. */
  as_of: text,
  /** A version to compare with. */
  vs: text,
  q: text,
  split: text,
  /** Id of the example that is open. */
  example: text,
  /** Ids of the experiments side by side, with commas. */
  compare: text,
  /** Compared examples by their difference, or by what got worse; without it as in the dataset. */
  sort: oneOf(['difference', 'worse']),
  /** Rows of a comparison with several lines of each text; without it, they have one. */
  rows: oneOf(['tall']),
  only: oneOf(['regressions']),
  /** Side that outputs are compared with, word by word: the reference or the first experiment. */
  diff: oneOf(['reference', 'first']),
})

/** Search parameters of the page of a dataset, each absent if its text is invalid. */
export type DatasetSearch = ReturnType<typeof readDatasetSearch>

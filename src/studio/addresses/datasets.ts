/** The addresses of datasets: which version, which examples, which experiments side by side. */

import { oneOf, textIn } from './search.ts'
import type { RawSearch } from './search.ts'

/** What the list of datasets shows. */
export interface DatasetListSearch {
  /** A part of the names. */
  readonly q?: string | undefined
}

/** The views of a dataset. */
const datasetViews = ['examples', 'experiments'] as const
/**
 * How compared examples are sorted: as they are in the dataset, or the largest difference first.
 */
const comparedSorts = ['difference'] as const

/** What a dataset shows. */
export interface DatasetSearch {
  readonly view?: typeof datasetViews[number] | undefined
  /** A version, by its time or tag; the newest one without it. */
  readonly as_of?: string | undefined
  /** A version to compare with. */
  readonly vs?: string | undefined
  readonly q?: string | undefined
  readonly split?: string | undefined
  /** Id of the example that is open. */
  readonly example?: string | undefined
  /** Ids of the experiments side by side, with commas. */
  readonly compare?: string | undefined
  readonly sort?: typeof comparedSorts[number] | undefined
  readonly only?: 'regressions' | undefined
  /** What outputs are compared with, word by word. */
  readonly diff?: 'reference' | 'first' | undefined
}

/** Reads it. */
export const readDatasetListSearch = (raw: RawSearch): DatasetListSearch => ({
  q: textIn(raw, 'q'),
})

/** Reads it. */
export function readDatasetSearch(raw: RawSearch): DatasetSearch {
  return {
    view: oneOf(raw, 'view', datasetViews),
    as_of: textIn(raw, 'as_of'),
    vs: textIn(raw, 'vs'),
    q: textIn(raw, 'q'),
    split: textIn(raw, 'split'),
    example: textIn(raw, 'example'),
    compare: textIn(raw, 'compare'),
    sort: oneOf(raw, 'sort', comparedSorts),
    only: oneOf(raw, 'only', ['regressions']),
    diff: oneOf(raw, 'diff', ['reference', 'first']),
  }
}

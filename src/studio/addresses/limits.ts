/** The address of this page. */

import { oneOf, textIn } from './search.ts'
import type { RawSearch } from './search.ts'

/** The parts of the page; the limits come first. */
export const limitViews = ['limits', 'keys', 'refused'] as const

/** What the page shows. */
export interface LimitsSearch {
  readonly view?: typeof limitViews[number] | undefined
  /** The id of a key whose limits are shown; by default those of the caller. */
  readonly key?: string | undefined
  /** Which keys: a part of a name or an id. */
  readonly find?: string | undefined
  /** Keys that ended are shown too. */
  readonly ended?: 'yes' | undefined
  /** Which part of the keys, from 1. */
  readonly page?: number | undefined
}

/** Reads it. */
export function readLimitsSearch(raw: RawSearch): LimitsSearch {
  const page = Number(raw['page'])
  return { view: oneOf(raw, 'view', limitViews), key: textIn(raw, 'key'), find: textIn(raw, 'find'),
    ended: oneOf(raw, 'ended', ['yes'] as const),
    page: Number.isInteger(page) && page > 1 ? page : undefined }
}

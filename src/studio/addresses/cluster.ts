/** The address of the cluster. */

import { searchOf, text } from './search.ts'

/** Reads what the page shows. */
export const readClusterSearch = searchOf({
  /** The member that stands out. */
  member: text,
})

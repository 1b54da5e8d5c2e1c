/** Counts rows in memory by their texts, which are all of them that may be long. */

import type { ReadShare } from '../../limits/index.ts'

/** Takes room for rows from the share. Throws as the share does. */
export function takeRows(share: ReadShare, rows: readonly object[]): void {
  for (const row of rows) {
    share.take(...Object.values(row).filter((value): value is string => typeof value === 'string'))
  }
}

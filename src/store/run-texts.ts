/** The texts of a run's row, which may be long: what a list leaves out, and what it reads. */

import type { RunRow } from '../../proto/gen/storage/v1/row.ts'
import type { RunText } from '../search/index.ts'
import type { PageBytes } from './page-bytes.ts'

/** The row without the texts that are not wanted. Throws `too_large` as `page` does. */
export function withTexts(row: RunRow, page: PageBytes, wanted?: readonly RunText[]): RunRow {
  const text = (name: RunText) => (wanted === undefined || wanted.includes(name) ? row[name] : '')
  const texts: Record<RunText, string> = {
    metadataJson: text('metadataJson'),
    kwargsJson: text('kwargsJson'),
    planJson: text('planJson'),
    errorJson: text('errorJson'),
    interruptsJson: text('interruptsJson'),
  }
  page.add(...Object.values(texts))
  return { ...row, ...texts }
}

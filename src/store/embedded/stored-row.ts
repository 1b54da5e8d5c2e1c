/** A row as it is stored and returned: its metadata apart from its encoded body. */

import { AnswerRoom } from '../../answer-room.ts'

export type StoredRow = readonly [metadataJson: string, body: Uint8Array]

/** Throws `too_large` before it reads more than fits an answer. */
export function pageOf(rows: Iterable<StoredRow>): StoredRow[] {
  using room = new AnswerRoom()
  const page: StoredRow[] = []
  for (const row of rows) {
    room.take(...row)
    page.push(row)
  }
  return page
}

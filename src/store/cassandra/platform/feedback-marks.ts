/** Marks that feedback leaves on the heads of its spans, for filters and statistics. */

import { termOf } from '../../../platform/index.ts'
import type { Feedback, SpanPlace, Uuid } from '../../../platform/index.ts'
import type { Connection } from '../driver/connection.ts'
import { feedbackLivesS } from './feedback-table.ts'
import type { LocationTable } from './location-table.ts'
import type { RollUpTable } from './roll-up-table.ts'
import type { PlacedFeedback } from './rows/feedback-row.ts'
import { bytesOfMark } from './rows/operation-cell.ts'
import type { SpanTable } from './span-table.ts'
import type { Visibility } from './visibility.ts'

/** Tables that have marks, and the places of spans. */
export interface FeedbackMarkParts {
  readonly connection: Connection
  readonly spans: SpanTable
  readonly rollUps: RollUpTable
  readonly locations: LocationTable
  readonly visibility: Visibility
}

/** Writes the mark of feedback on its span. */
export async function putMark({ connection, spans, rollUps }: FeedbackMarkParts, row: Feedback,
  place: SpanPlace): Promise<void> {
  await connection.repeatableBatch([
    spans.mark(place, { id: row.id, data: bytesOfMark(row), term: termOf.feedback(row.key),
      timeToLiveS: feedbackLivesS }),
  ])
  await rollUps.touch([place])
}

/** Deletes the mark of feedback on a span of one project. */
export async function deleteMark({ connection, spans, rollUps }: FeedbackMarkParts, id: Uuid,
  place: SpanPlace): Promise<void> {
  await connection.repeatableBatch([spans.mark(place, { id, data: null })])
  await rollUps.touch([place])
}

/**
 * Deletes the marks of feedback on its span, in all projects that have the span. A mark that was
 * written after the removal of its span made a row, which is deleted.
 */
export async function deleteMarks(parts: FeedbackMarkParts,
  { row: { tenant, id, span }, place }: PlacedFeedback): Promise<void> {
  const { connection, spans, rollUps, locations, visibility } = parts
  if (span === null) return
  const places = new Map([...place === null ? [] : [place], ...await locations.find(tenant, [span])]
    .map((each) => [`${each.project} ${each.startUs}`, each]))
  const visible = new Set(await visibility.of([...places.values()]))
  for (const each of places.values()) {
    await connection.repeatableBatch([
      visible.has(each) ? spans.mark(each, { id, data: null }) : spans.removal(each),
    ])
  }
  await rollUps.touch([...visible])
}

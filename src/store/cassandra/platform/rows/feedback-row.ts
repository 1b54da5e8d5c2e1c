/** Feedback as the bytes of its row. */

import { FeedbackRow } from '../../../../../proto/gen/storage/v1/span.ts'
import { bytesOfUuid, uuidOfBytes } from '../../../../platform/index.ts'
import type { Feedback, SpanPlace, Uuid } from '../../../../platform/index.ts'

/** Feedback with the place of its mark. */
export interface PlacedFeedback {
  readonly row: Feedback
  readonly place: SpanPlace | null
}

/** The bytes of feedback. Its tenant and its id are the key of its row. */
export function bytesOfFeedback({ row, place }: PlacedFeedback): Buffer {
  return Buffer.from(FeedbackRow.encode({
    key: row.key,
    score: row.score ?? undefined,
    value: row.value ?? undefined,
    span: bytesIf(row.span),
    trace: bytesIf(row.trace),
    project: bytesIf(row.project),
    createdUs: row.createdUs,
    modifiedUs: row.modifiedUs,
    bodyJson: row.bodyJson,
    place: place === null ? undefined : {
      project: bytesOfUuid(place.project),
      startUs: place.startUs,
      id: bytesOfUuid(place.id),
      trace: bytesOfUuid(place.trace),
      traceStartUs: place.traceStartUs,
    },
  }).finish())
}

/** The feedback of a row. */
export function feedbackOf(tenant: string, id: Uuid, stored: FeedbackRow): PlacedFeedback {
  const { place } = stored
  return {
    row: {
      tenant,
      id,
      key: stored.key,
      score: stored.score ?? null,
      value: stored.value ?? null,
      span: uuidIf(stored.span),
      trace: uuidIf(stored.trace),
      project: uuidIf(stored.project),
      createdUs: stored.createdUs,
      modifiedUs: stored.modifiedUs,
      bodyJson: stored.bodyJson,
    },
    place: place === undefined ? null : {
      tenant,
      project: uuidOfBytes(place.project),
      startUs: place.startUs,
      id: uuidOfBytes(place.id),
      trace: uuidOfBytes(place.trace),
      traceStartUs: place.traceStartUs,
    },
  }
}

function bytesIf(id: Uuid | null): Buffer | undefined {
  return id === null ? undefined : bytesOfUuid(id)
}

function uuidIf(bytes: Buffer | undefined): Uuid | null {
  return bytes === undefined ? null : uuidOfBytes(bytes)
}

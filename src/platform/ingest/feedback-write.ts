/** Feedback on its way to the store: with the place of its span, so that filters find it. */

import type { RawFeedback } from './body/request-body.ts'
import { HeddleError } from '../../errors.ts'
import { isObject, jsonIn, NotJson } from '../../json/index.ts'
import { feedbackOf } from '../records/feedback/feedback-row.ts'
import type { Feedback } from '../spans/feedback-port.ts'
import { firstPlaces } from '../spans/first-places.ts'
import type { SpanStore } from '../spans/span-port.ts'
import type { SpanPlace, Uuid } from '../spans/span.ts'

/** Bytes that feedback may have. */
const feedbackBytesMax = 1024 * 1024
/** Rows of one write: other tenants have a turn between two of them. */
const rowsOfWrite = 250

/** Reads feedback in a body. Throws `invalid`, with a message that quotes nothing of it. */
export function readFeedback(tenant: string, { id, json }: RawFeedback, nowUs: number): Feedback {
  if (json.length > feedbackBytesMax) {
    throw new HeddleError('invalid', `Feedback may have ${feedbackBytesMax} bytes.`)
  }
  const body = parsed(json)
  return feedbackOf(tenant, isObject(body) ? { ...body, id: body['id'] ?? id } : body, nowUs)
}

function parsed(json: Buffer): unknown {
  try {
    return JSON.parse(jsonIn(json).toString())
  } catch (error) {
    if (error instanceof NotJson) throw new HeddleError('invalid', 'Feedback is no valid JSON.')
    throw error
  }
}

/**
 * Writes feedback of one tenant. `here` knows the places of spans in the same request; others are
 * looked up. Feedback on an unknown span is stored without a mark on it. Returns the ids of the
 * feedback that was not written, because its span, its trace or its project was deleted.
 */
export async function writeFeedback(store: SpanStore, rows: readonly Feedback[],
  here: (span: Uuid) => SpanPlace | undefined = () => undefined): Promise<readonly Uuid[]> {
  if (rows.length === 0) return []
  const placed = await placeFeedback(store, rows, here)
  const refused: Uuid[] = []
  for (let at = 0; at < placed.length; at += rowsOfWrite) {
    refused.push(...await store.putFeedback(placed.slice(at, at + rowsOfWrite)))
  }
  return refused
}

/** Returns feedback of one tenant with the places of its spans. */
export async function placeFeedback(store: Pick<SpanStore, 'locate'>, rows: readonly Feedback[],
  here: (span: Uuid) => SpanPlace | undefined = () => undefined
): Promise<readonly { readonly row: Feedback; readonly place: SpanPlace | null }[]> {
  const spans = new Set(rows.flatMap(({ span }) => (span === null ? [] : [span])))
  const unknown = [...spans].filter((span) => here(span) === undefined)
  const located = unknown.length === 0 ? [] : await store.locate(rows[0]!.tenant, unknown)
  return rows.map((row) => {
    const place = row.span === null
      ? null
      : here(row.span) ??
        firstPlaces(located.filter(({ id }) => id === row.span),
          ({ project }) => project === row.project).get(row.span) ??
        null
    return {
      row: { ...row, trace: row.trace ?? place?.trace ?? null,
        project: row.project ?? place?.project ?? null },
      place,
    }
  })
}

/**
 * Spans that ended, in the order in which their ends arrived: what rules read. They are documents
 * of a project, or of the dataset of an experiment, by the hour. Pure.
 */

import { namedId } from '../../records/catalog/named-id.ts'
import type { Document, DocumentPlace } from '../../spans/document-port.ts'
import type { SpanPlace, Uuid } from '../../spans/span.ts'

/** Owner of rules: a project, or a dataset for the projects of its experiments. */
export interface Reader {
  readonly owner: Uuid
  readonly rules: readonly Uuid[]
}

/** A span that ended, and who reads that. */
export interface EndedSpan {
  readonly place: SpanPlace
  readonly readers: readonly Reader[]
}

/** A span as the document of its end names it. */
export interface EndedName {
  readonly id: Uuid
  readonly trace: Uuid
}

/** Ends of one project that arrived together. */
export interface EndedBatch {
  readonly key: string
  readonly project: Uuid
  readonly spans: readonly EndedName[]
}

/** Spans of one document: as many are looked at together, and again after a failure. */
export const batchSpans = 100
/** Hours that ends are kept for rules that are behind. */
export const keptHours = 7 * 24

const hourUs = 3_600e6
/** Digits of a time in microseconds, until the year 2286. */
const timeDigits = 16

/** Place of the ends of an hour. */
export function endedPlace(tenant: string, owner: Uuid, hour: number): DocumentPlace {
  return { tenant, kind: 'ended_span', owner: namedId('ended', `${owner}\n${hour}`) }
}

/** The hour of a time. */
export function hourOf(atUs: number): number {
  return Math.floor(atUs / hourUs)
}

/** The hour that a key is in. */
export function hourOfKey(key: string): number {
  return hourOf(Number(key.slice(0, timeDigits)))
}

/** A key before all that arrive at this time or later. */
export function keyAt(atUs: number): string {
  return String(Math.max(0, Math.floor(atUs))).padStart(timeDigits, '0')
}

/** A document for some spans of one project that arrived at a time. */
export function endedDocument(atUs: number, project: Uuid, spans: readonly EndedName[]): Document {
  return { key: `${keyAt(atUs)}-${spans[0]!.id}`,
    body: Buffer.from(JSON.stringify([project, ...spans.flatMap(({ id, trace }) => [id, trace])])) }
}

/** Ends that a document keeps. */
export function readEnded({ key, body }: Document): EndedBatch {
  const [project, ...ids] = JSON.parse(Buffer.from(body).toString()) as string[]
  return { key, project: project!,
    spans: ids.flatMap((id, at) => at % 2 === 0 ? [{ id, trace: ids[at + 1]! }] : []) }
}

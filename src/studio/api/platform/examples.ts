/** Examples of datasets: what comes in, what should come out, and what else is known. */

import { ask, post, send } from '../client.ts'
import type { JsonObject } from '../client.ts'
import { versionIn } from './datasets.ts'

/** A file of an example, under its name with `attachment.` before it. */
export interface AttachmentLink {
  readonly presigned_url: string
  readonly mime_type?: string | null
}

/** An example. */
export interface Example {
  readonly id: string
  readonly dataset_id: string
  readonly inputs: JsonObject
  readonly outputs: JsonObject | null
  readonly metadata: JsonObject | null
  readonly created_at: string
  readonly modified_at: string
  readonly source_run_id: string | null
  readonly attachment_urls?: Readonly<Record<string, AttachmentLink>> | null
}

/** What of an example somebody writes. */
export interface ExampleBody {
  readonly inputs: JsonObject
  readonly outputs: JsonObject | null
  readonly metadata: JsonObject | null
  readonly split: readonly string[]
  readonly source_run_id?: string
}

/** Which examples. */
export interface ExampleQuestion {
  readonly datasetId: string
  /** A time or a tag; the newest version without it. */
  readonly asOf: string | undefined
  readonly split: string | undefined
  /** Words of its texts. */
  readonly q: string
}

/** Examples of a page. */
export const examplesAtOnce = 100

/** A page of examples. */
export const examplePage = (question: ExampleQuestion, offset: number, signal?: AbortSignal) => {
  const query = questionIn(question)
  query.set('limit', String(examplesAtOnce))
  query.set('offset', String(offset))
  return ask<Example[]>(`/api/v1/examples?${query}`, { signal })
}

/** How many examples there are. */
export const exampleCount = (question: ExampleQuestion, signal?: AbortSignal) =>
  ask<number>(`/api/v1/examples/count?${questionIn(question)}`, { signal })

/** Examples by their ids, 100 at most, as they were at a version, with links to their files. */
export function examplesById(datasetId: string, ids: readonly string[], asOf: string | undefined,
  signal?: AbortSignal): Promise<readonly Example[]> {
  const query = versionIn(asOf)
  query.set('dataset', datasetId)
  for (const id of ids) query.append('id', id)
  // Links to files are made for those who ask for them.
  for (const name of ['outputs', 'metadata', 'attachment_urls']) query.append('select', name)
  return ask(`/api/v1/examples?${query}`, { signal })
}

/** Adds an example. */
export const createExample = (datasetId: string, body: ExampleBody) =>
  post<Example>('/api/v1/examples', { dataset_id: datasetId, ...body })

/** Writes an example anew. */
export const patchExample = (id: string, body: ExampleBody) =>
  ask(`/api/v1/examples/${id}`, { method: 'PATCH', body })

/** Deletes an example: older versions still have it. */
export const deleteExample = (id: string) => send(`/api/v1/examples/${id}`, { method: 'DELETE' })

/** The splits of an example. */
export function splitsOf({ metadata }: Pick<Example, 'metadata'>): readonly string[] {
  const split = metadata?.['dataset_split']
  return typeof split === 'string'
    ? [split]
    : Array.isArray(split)
    ? split.filter((each) => typeof each === 'string')
    : []
}

function questionIn({ datasetId, asOf, split, q }: ExampleQuestion): URLSearchParams {
  const query = versionIn(asOf)
  query.set('dataset', datasetId)
  if (split !== undefined) query.set('splits', split)
  if (q !== '') query.set('full_text_contains', q)
  return query
}

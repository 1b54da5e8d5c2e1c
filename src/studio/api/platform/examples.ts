/** Examples of datasets: what comes in, what should come out, and what else is known. */

import type { Example, ExampleBody } from '../../../api/index.ts'
import { ask } from '../ask.ts'

/** Filter of the examples of a dataset. */
export interface ExampleQuestion {
  readonly datasetId: string
  /** A time or a tag; the newest version without it. */
  readonly asOf: string | undefined
  readonly split: string | undefined
  /** Words of its texts. */
  readonly q: string
}

/** Number of examples on a page. */
export const examplesAtOnce = 100

/** Resolves with a page of at most 100 examples, from an offset on. */
export const examplePage = (question: ExampleQuestion, offset: number, signal?: AbortSignal) =>
  ask('GET /api/v1/examples', { signal,
    query: { ...questionIn(question), limit: examplesAtOnce, offset } })

/** Resolves with the number of examples that match. */
export const exampleCount = (question: ExampleQuestion, signal?: AbortSignal) =>
  ask('GET /api/v1/examples/count', { query: questionIn(question), signal })

/** Examples by their ids, 100 at most, as they were at a version, with links to their files. */
export function examplesById(dataset: string, id: readonly string[], asOf: string | undefined,
  signal?: AbortSignal): Promise<readonly Example[]> {
  // Links to files are made for those who ask for them.
  const select = ['outputs', 'metadata', 'attachment_urls']
  return ask('GET /api/v1/examples', { signal, query: { as_of: asOf, dataset, id, select } })
}

/** Adds an example to a dataset. */
export const createExample = (dataset: string, body: ExampleBody) =>
  ask('POST /api/v1/examples', { body: { dataset_id: dataset, ...body } })

/** Adds examples; each names its dataset. All of them are added, or none. */
export const createExamples = (
  bodies: readonly (ExampleBody & { readonly dataset_id: string })[],
) => ask('POST /api/v1/examples/bulk', { body: [...bodies] })

/** Replaces the fields of an example that the body names. */
export const patchExample = (id: string, body: ExampleBody) =>
  ask('PATCH /api/v1/examples/:id', { params: { id }, body })

/** Deletes an example: older versions still have it. */
export const deleteExample = (id: string) => ask('DELETE /api/v1/examples/:id', { params: { id } })

/** The splits of an example. */
export function splitsOf({ metadata }: Pick<Example, 'metadata'>): readonly string[] {
  const split = metadata?.['dataset_split']
  return typeof split === 'string'
    ? [split]
    : Array.isArray(split)
    ? split.filter((each) => typeof each === 'string')
    : []
}

function questionIn({ datasetId, asOf, split, q }: ExampleQuestion) {
  return { as_of: asOf, dataset: datasetId, ...split !== undefined && { splits: [split] },
    ...q !== '' && { full_text_contains: [q] } }
}

/** Datasets: examples to try agents on, with versions, tags and splits. */

import { queryOptions } from '@tanstack/react-query'

import type { Dataset } from '../../../api/index.ts'
import { addressFor } from '../address.ts'
import { ask, askPage } from '../ask.ts'
import type { JsonObject } from '../client.ts'

/** Datasets of a page, and versions of a page. */
export const datasetsAtOnce = 100

/** A page of datasets whose names contain a text, the last changed first. */
export async function datasetPage(q: string, offset: number, signal?: AbortSignal): Promise<{
  readonly datasets: readonly Dataset[]
  readonly total: number | undefined
}> {
  const { data, headers } = await askPage('GET /api/v1/datasets', { signal,
    query: { limit: datasetsAtOnce, offset, ...q !== '' && { name_contains: q } } })
  const total = headers.get('x-pagination-total')
  return { datasets: data, total: total === null ? undefined : Number(total) }
}

/** Datasets to choose from: the first ones, and that one which is chosen already. */
export const datasetChoice = (chosen: string | null | undefined) =>
  queryOptions({
    queryKey: ['datasets', 'choice', chosen],
    queryFn: async ({ signal }) => {
      const { datasets } = await datasetPage('', 0, signal)
      return !chosen || datasets.some(({ id }) => id === chosen)
        ? datasets
        : [await ask('GET /api/v1/datasets/:id', { params: { id: chosen }, signal }), ...datasets]
    },
  })

/** A dataset by its id. */
export const datasetQuery = (id: string) =>
  queryOptions({
    queryKey: ['datasets', id],
    queryFn: ({ signal }) => ask('GET /api/v1/datasets/:id', { params: { id }, signal }),
  })

/** The versions of a dataset, newest first. */
export const versionsQuery = (id: string) =>
  queryOptions({
    queryKey: ['datasets', id, 'versions'],
    queryFn: ({ signal }) =>
      ask('GET /api/v1/datasets/:id/versions', { params: { id }, signal,
        query: { limit: datasetsAtOnce, offset: 0 } }),
  })

/** The names of the splits of a dataset, as it was at a version. */
export const splitsQuery = (id: string, asOf: string | undefined) =>
  queryOptions({
    queryKey: ['datasets', id, 'splits', asOf],
    queryFn: ({ signal }) =>
      ask('GET /api/v1/datasets/:id/splits', { params: { id }, query: { as_of: asOf }, signal }),
  })

/** Query of the changes between two versions of a dataset. */
export const versionDiffQuery = (id: string, from: string, to: string) =>
  queryOptions({
    queryKey: ['datasets', id, 'diff', from, to],
    queryFn: ({ signal }) =>
      ask('GET /api/v1/datasets/:id/versions/diff', { params: { id }, signal,
        query: { from_version: from, to_version: to } }),
  })

/** Makes a dataset without examples. */
export const createDataset = (name: string, description: string) =>
  ask('POST /api/v1/datasets', {
    body: { name, data_type: 'kv', ...description !== '' && { description } },
  })

/** Fields of a dataset that people change; an absent one stays as it is. */
export type DatasetChange =
  & Pick<Dataset, 'name' | 'description'>
  & { readonly [Name in `${'inputs' | 'outputs'}_schema_definition`]: JsonObject | undefined }

/** Changes the fields of a dataset that the body names. */
export const patchDataset = (id: string, change: DatasetChange) =>
  ask('PATCH /api/v1/datasets/:id', { params: { id }, body: change })

/** The address of a version of a dataset as a file. */
export const fileOfDataset = (id: string, form: 'jsonl' | 'csv', asOf: string | undefined) =>
  addressFor(`GET /api/v1/datasets/:id/${form}`, { params: { id },
    query: { ...asOf !== undefined && { as_of: asOf } } })

/** Deletes a dataset with its examples. */
export const deleteDataset = (id: string) => ask('DELETE /api/v1/datasets/:id', { params: { id } })

/** Names a version. A tag that named another one moves. */
export const tagVersion = (id: string, asOf: string, tag: string) =>
  ask('PUT /api/v1/datasets/:id/tags', { params: { id }, body: { as_of: asOf, tag } })

/** A file of examples, and which of its columns are what comes in and what should come out. */
export interface DatasetFile {
  readonly name: string
  readonly description: string
  readonly file: File
  readonly inputKeys: readonly string[]
  readonly outputKeys: readonly string[]
}

/** Makes a dataset of a file. */
export function uploadDataset(given: DatasetFile): Promise<Dataset> {
  const form = new FormData()
  form.append('file', given.file, given.file.name)
  form.append('name', given.name)
  form.append('data_type', 'kv')
  if (given.description !== '') form.append('description', given.description)
  for (const key of given.inputKeys) form.append('input_keys', key)
  for (const key of given.outputKeys) form.append('output_keys', key)
  return ask('POST /api/v1/datasets/upload', { form })
}

/** Query of the ids and names of 100 datasets at most. */
export const datasetNames = queryOptions({
  queryKey: ['datasets', 'names'],
  queryFn: ({ signal }) => ask('GET /api/v1/datasets', { query: { limit: 100 }, signal }),
  retry: false,
})

/** Datasets: examples to try agents on, with versions, tags and splits. */

import { queryOptions } from '@tanstack/react-query'

import { ask, askPage, post, send } from '../client.ts'
import type { JsonObject } from '../client.ts'

/** A dataset. */
export interface Dataset {
  readonly id: string
  readonly name: string
  readonly description: string | null
  readonly created_at: string
  readonly modified_at: string | null
  readonly example_count: number
  /** Experiments that ran over it. */
  readonly session_count: number
  readonly last_session_start_time: string | null
  readonly inputs_schema_definition?: JsonObject | null
  readonly outputs_schema_definition?: JsonObject | null
}

/** A moment at which examples changed, with the tags that name it. */
export interface DatasetVersion {
  readonly as_of: string
  readonly tags: readonly string[] | null
}

/** Ids of the examples that differ between two versions. */
export interface VersionDiff {
  readonly examples_added: readonly string[]
  readonly examples_modified: readonly string[]
  readonly examples_removed: readonly string[]
}

/** Datasets of a page, and versions of a page. */
export const datasetsAtOnce = 100

/** A page of datasets whose names contain a text, the last changed first. */
export async function datasetPage(q: string, offset: number, signal?: AbortSignal): Promise<{
  readonly datasets: readonly Dataset[]
  readonly total: number | undefined
}> {
  const query = new URLSearchParams({ limit: String(datasetsAtOnce), offset: String(offset),
    ...q !== '' && { name_contains: q } })
  const { data, headers } = await askPage<Dataset[]>(`/api/v1/datasets?${query}`, { signal })
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
        : [await ask<Dataset>(`/api/v1/datasets/${chosen}`, { signal }), ...datasets]
    },
  })

/** A dataset by its id. */
export const datasetQuery = (id: string) =>
  queryOptions({
    queryKey: ['datasets', id],
    queryFn: ({ signal }) => ask<Dataset>(`/api/v1/datasets/${id}`, { signal }),
  })

/** The versions of a dataset, newest first. */
export const versionsQuery = (id: string) =>
  queryOptions({
    queryKey: ['datasets', id, 'versions'],
    queryFn: ({ signal }) =>
      ask<DatasetVersion[]>(`/api/v1/datasets/${id}/versions?limit=${datasetsAtOnce}&offset=0`, {
        signal,
      }),
  })

/** The names of the splits of a dataset, as it was at a version. */
export const splitsQuery = (id: string, asOf: string | undefined) =>
  queryOptions({
    queryKey: ['datasets', id, 'splits', asOf],
    queryFn: ({ signal }) =>
      ask<string[]>(`/api/v1/datasets/${id}/splits?${versionIn(asOf)}`, { signal }),
  })

/** What changed between two versions. */
export const versionDiffQuery = (id: string, from: string, to: string) =>
  queryOptions({
    queryKey: ['datasets', id, 'diff', from, to],
    queryFn: ({ signal }) =>
      ask<VersionDiff>(
        `/api/v1/datasets/${id}/versions/diff?${new URLSearchParams({ from_version: from,
          to_version: to })}`,
        { signal },
      ),
  })

/** The parameter that asks for a version; none for the newest. */
export const versionIn = (asOf: string | undefined): URLSearchParams =>
  new URLSearchParams({ ...asOf !== undefined && { as_of: asOf } })

/** Makes a dataset without examples. */
export const createDataset = (name: string, description: string) =>
  post<Dataset>('/api/v1/datasets', { name, data_type: 'kv',
    ...description !== '' && { description } })

/** What people change of a dataset; what is absent stays. */
export type DatasetChange =
  & Pick<Dataset, 'name' | 'description'>
  & { readonly [Name in `${'inputs' | 'outputs'}_schema_definition`]: JsonObject | undefined }

/** Changes a dataset. */
export const patchDataset = (id: string, change: DatasetChange) =>
  ask<Dataset>(`/api/v1/datasets/${id}`, { method: 'PATCH', body: change })

/** The address of a version of a dataset as a file. */
export const fileOfDataset = (id: string, form: 'jsonl' | 'csv', asOf: string | undefined) =>
  `/api/v1/datasets/${id}/${form}?${versionIn(asOf)}`

/** Deletes a dataset with its examples. */
export const deleteDataset = (id: string) => send(`/api/v1/datasets/${id}`, { method: 'DELETE' })

/** Names a version. A tag that named another one moves. */
export const tagVersion = (id: string, asOf: string, tag: string) =>
  ask(`/api/v1/datasets/${id}/tags`, { method: 'PUT', body: { as_of: asOf, tag } })

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
  return ask('/api/v1/datasets/upload', { method: 'POST', form })
}

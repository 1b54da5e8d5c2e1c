/** Every route of datasets and examples, called with the ids of somebody's dataset. */

import type { Case } from './isolation-cases.ts'

/** A dataset of a tenant, with what belongs to it. */
export interface DatasetBelongings {
  readonly dataset: string
  readonly example: string
  /** An experiment over the dataset, and a comparison of it. */
  readonly experiment: string
  readonly comparison: string
  /** The name of a version of the dataset. */
  readonly version: string
}

const boundary = 'cut'

/** A body of several parts. */
export function bodyOf(parts: Readonly<Record<string, unknown>>): string {
  const texts = Object.entries(parts).map(([name, value]) =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"` +
    `${name === 'file' ? '; filename="f.csv"' : ''}\r\n\r\n` +
    `${typeof value === 'string' ? value : JSON.stringify(value)}\r\n`
  )
  return `${texts.join('')}--${boundary}--\r\n`
}

/** The type of such a body. */
export const partsType = `multipart/form-data; boundary=${boundary}`

/** A case of each route. Those that remove something are last. */
export function datasetCases(theirs: DatasetBelongings): readonly Case[] {
  return [...datasetReads(theirs), ...exampleChanges(theirs), ...datasetChanges(theirs)]
}

function one(access: Case['access']) {
  return (route: string, path: string, body?: unknown): Case => ({ route, path: `/api/v1${path}`,
    body, access })
}

function datasetReads(
  { dataset, example, experiment, comparison, version }: DatasetBelongings,
): readonly Case[] {
  const read = one('read')
  const below = `/datasets/${dataset}`
  const v2 = (route: string, path: string, body?: unknown): Case => ({ route, body, access: 'read',
    path: `/api/v2${path}` })
  return [
    read('GET /datasets', '/datasets'),
    read('GET /datasets', `/datasets?id=${dataset}`),
    read('GET /datasets/:id', below),
    read('GET /datasets/:id/version', `${below}/version?tag=${version}`),
    read('GET /datasets/:id/versions', `${below}/versions`),
    read('GET /datasets/:id/versions/diff',
      `${below}/versions/diff?from_version=${version}&to_version=latest`),
    read('GET /datasets/:id/splits', `${below}/splits`),
    read('GET /datasets/:id/csv', `${below}/csv`),
    read('GET /datasets/:id/jsonl', `${below}/jsonl`),
    read('GET /datasets/:id/openai_ft', `${below}/openai_ft`),
    read('POST /datasets/:id/experiments/grouped', `${below}/experiments/grouped`, {
      metadata_keys: ['of'],
    }),
    read('GET /datasets/:id/comparative', `${below}/comparative`),
    read('GET /datasets/:id/share', `${below}/share`),
    read('POST /datasets/:id/runs', `${below}/runs`, { session_ids: [experiment] }),
    read('POST /datasets/:id/runs', `${below}/runs`, { comparative_experiment_id: comparison }),
    v2('GET /datasets', '/datasets'),
    v2('GET /datasets', `/datasets?id=${dataset}`),
    v2('POST /datasets/:id/experiment-runs', `${below}/experiment-runs`, {
      experiment_ids: [experiment],
    }),
    read('GET /examples', `/examples?dataset=${dataset}`),
    read('GET /examples', `/examples?dataset=${dataset}&as_of=${version}`),
    read('GET /examples', `/examples?id=${example}`),
    read('GET /examples/count', `/examples/count?dataset=${dataset}`),
    read('GET /examples/:id', `/examples/${example}`),
    read('GET /examples/:id', `/examples/${example}?dataset=${dataset}`),
    read('POST /examples/validate', '/examples/validate', { dataset_id: dataset, inputs: {} }),
    read('POST /examples/validate/bulk', '/examples/validate/bulk', [
      { dataset_id: dataset, inputs: {} },
    ]),
    read('GET /sessions', `/sessions?reference_dataset=${dataset}`),
  ]
}

function exampleChanges({ dataset, example }: DatasetBelongings): readonly Case[] {
  const change = one('change')
  const examples = '/platform/datasets/:id/examples'
  const below = `/platform/datasets/${dataset}/examples`
  const taken = { inputs: { taken: true } }
  const parts = bodyOf({ [example]: {}, [`${example}.inputs`]: taken.inputs })
  return [
    change('POST /examples', '/examples', { ...taken, dataset_id: dataset }),
    change('POST /examples', '/examples', { ...taken, id: example, dataset_id: dataset }),
    change('POST /examples/bulk', '/examples/bulk', [{ ...taken, dataset_id: dataset }]),
    change('PATCH /examples/bulk', '/examples/bulk', [{ ...taken, id: example }]),
    change('PATCH /examples/bulk', '/examples/bulk', [
      { ...taken, id: example, dataset_id: dataset },
    ]),
    change('PATCH /examples/:id', `/examples/${example}`, { ...taken, dataset_id: dataset }),
    { ...change(`POST ${examples}`, below, parts), type: partsType },
    { ...change(`PATCH ${examples}`, below, parts), type: partsType },
    change(`PATCH ${examples}/metadata`, `${below}/metadata`, { example_ids: [example],
      operations: [{ key: 'dataset_split', operation: 'set', value: ['taken'] }] }),
    change('PUT /datasets/:id/splits', `/datasets/${dataset}/splits`, { split_name: 'taken',
      examples: [example] }),
    change('POST /platform/datasets/examples/delete', '/platform/datasets/examples/delete', {
      example_ids: [example],
      hard_delete: true,
    }),
    change(`DELETE ${examples}/:example`, `${below}/${example}`),
    change('DELETE /examples/:id', `/examples/${example}`),
    change('DELETE /examples', `/examples?example_ids=${example}`),
  ]
}

function datasetChanges(
  { dataset, experiment, comparison, version }: DatasetBelongings,
): readonly Case[] {
  const change = one('change')
  const below = `/datasets/${dataset}`
  return [
    change('POST /datasets', '/datasets', { name: 'taken', id: dataset }),
    {
      ...change('POST /datasets/upload', '/datasets/upload',
        bodyOf({ name: 'taken file', input_keys: 'q', file: 'q\r\ntaken\r\n' })),
      type: partsType,
    },
    change('POST /datasets/upload-experiment', '/datasets/upload-experiment', {
      experiment_name: 'taken experiment',
      experiment_start_time: '2026-11-26T20:00:00Z',
      experiment_end_time: '2026-11-26T20:00:01Z',
      dataset_name: 'taken dataset',
      results: [{ row_id: '0b1d7e7e-2a5f-4c0e-9d3e-5d8f3a1b2c4d', inputs: { taken: true },
        start_time: 0, end_time: 1 }],
    }),
    change('PATCH /datasets/:id', below, { name: 'taken' }),
    change('PUT /datasets/:id/tags', `${below}/tags`, { as_of: 'latest', tag: version }),
    change('POST /datasets/comparative', '/datasets/comparative', {
      experiment_ids: [experiment],
      reference_dataset_id: dataset,
    }),
    change('PUT /datasets/:id/share', `${below}/share`, {}),
    change('DELETE /datasets/:id/share', `${below}/share`),
    change('DELETE /datasets/comparative/:id', `/datasets/comparative/${comparison}`),
    change('DELETE /datasets/:id', below),
  ]
}

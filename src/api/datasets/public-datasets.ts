/** Requests of anybody who has the link of a dataset: for it, its examples and its experiments. */

import { Type } from 'typebox'

import { Feedback } from '../feedback.ts'
import { Offset, Text, Uuid } from '../json.ts'
import { operation } from '../operation.ts'
import { Project } from '../traces/projects.ts'
import { RunPage, TracedRun } from '../traces/run-json.ts'
import { RunsQuery } from '../traces/run-questions.ts'
import { readRunStats } from '../traces/runs.ts'
import { listDatasetRuns } from './dataset-runs.ts'
import { getDataset, listComparisons } from './datasets.ts'
import { countExamples, Example } from './examples.ts'

const token = { token: Text(100) }
const params = Type.Object(token)
const page = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100 })),
  offset: Type.Optional(Offset()),
}
const Examples = Type.Object({
  id: Type.Optional(Type.Array(Uuid(), { maxItems: 1_000 })),
  ...page,
  metadata: Type.Optional(Text(16 * 1024)),
  filter: Type.Optional(Text(8_192)),
})

export const getSharedDataset = operation('GET', '/api/v1/public/:token/datasets', {
  access: 'public',
  summary: 'Get the dataset that a link names',
  params,
  answer: getDataset.answer,
})

export const listSharedExamples = operation('GET', '/api/v1/public/:token/examples', {
  access: 'public',
  summary: 'List the examples of a shared dataset',
  params,
  query: Examples,
  answer: Type.Array(Example),
})

export const countSharedExamples = operation('GET', '/api/v1/public/:token/examples/count', {
  access: 'public',
  summary: 'Count the examples of a shared dataset',
  params,
  query: Examples,
  answer: countExamples.answer,
})

const runs = {
  access: 'public',
  summary: 'List examples of a shared dataset with the runs of its experiments',
  params,
  body: listDatasetRuns.body,
  answer: listDatasetRuns.answer,
} as const

export const listSharedDatasetRuns = operation('POST', '/api/v1/public/:token/datasets/runs', runs)

export const listSharedExampleRuns = operation('POST', '/api/v1/public/:token/examples/runs', runs)

export const listSharedProjects = operation('GET', '/api/v1/public/:token/datasets/sessions', {
  access: 'public',
  summary: 'List the experiments of a shared dataset, the newest first',
  params,
  query: Type.Object({
    ...page,
    id: Type.Optional(Type.Array(Uuid(), { maxItems: 1_000 })),
    name: Type.Optional(Text(1_000)),
    name_contains: Type.Optional(Text(1_000)),
    include_stats: Type.Optional(Type.Boolean()),
  }),
  answer: Type.Array(Project),
  returns: ['x-pagination-total'],
})

export const listProjectsOfSeveral = operation('GET', '/api/v1/public/datasets/sessions-bulk', {
  access: 'public',
  summary: 'List the experiments of several shared datasets',
  query: Type.Object({ share_tokens: Type.Array(Text(100), { minItems: 1, maxItems: 20 }) }),
  answer: Type.Array(Project),
})

export const listSharedComparisons = operation('GET', '/api/v1/public/:token/datasets/comparative',
  {
    access: 'public',
    summary: 'List the comparisons of a shared dataset',
    params,
    query: listComparisons.query,
    answer: listComparisons.answer,
  })

export const listSharedFeedback = operation('GET', '/api/v1/public/:token/datasets/feedback', {
  access: 'public',
  summary: 'List the feedback on the experiments of a shared dataset',
  params,
  query: Type.Object({
    ...page,
    run: Type.Optional(Type.Array(Uuid(), { maxItems: 1_000 })),
    session: Type.Optional(Type.Array(Uuid(), { maxItems: 10 })),
    key: Type.Optional(Type.Array(Text(180), { maxItems: 100 })),
  }),
  answer: Type.Array(Feedback),
})

export const querySharedRuns = operation('POST', '/api/v1/public/:token/datasets/runs/query', {
  access: 'public',
  summary: 'Find runs of the experiments of a shared dataset',
  params,
  body: RunsQuery,
  answer: RunPage,
})

export const readSharedStats = operation('POST', '/api/v1/public/:token/datasets/runs/stats', {
  access: 'public',
  summary: 'Summarise runs of the experiments of a shared dataset',
  params,
  body: RunsQuery,
  answer: readRunStats.answer,
})

export const getSharedRun = operation('GET', '/api/v1/public/:token/datasets/runs/:run', {
  access: 'public',
  summary: 'Get a run of an experiment of a shared dataset',
  params: Type.Object({ ...token, run: Text() }),
  answer: TracedRun,
})

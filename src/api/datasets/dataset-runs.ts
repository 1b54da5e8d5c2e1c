/** Examples of a dataset beside the runs that experiments made of them. */

import { Type } from 'typebox'

import { Json, JsonObject, Maybe, Nullable, Offset, Text, Time, Uuid } from '../json.ts'
import { operation } from '../operation.ts'
import type { Value } from '../operation.ts'
import { Project } from '../traces/projects.ts'
import { TracedRun, TracedRunV2 } from '../traces/run-json.ts'
import { Example } from './examples.ts'

const ids = (maxItems: number) => Maybe(Type.Array(Uuid(), { maxItems }))
const limit = () => Maybe(Type.Integer({ minimum: 1, maximum: 100 }))

const Question = Type.Object({
  session_ids: ids(20),
  offset: Type.Optional(Offset()),
  limit: limit(),
  preview: Type.Optional(Json()),
  comparative_experiment_id: Maybe(Uuid()),
  as_of: Maybe(Text(255)),
})

const Compared = Type.Object({ ...Example.properties, runs: Type.Array(TracedRun) }, {
  $id: 'ComparedExample',
  description: 'An example with the runs of experiments.',
})

const ComparedV2 = Type.Object({ ...Example.properties, runs: Type.Array(TracedRunV2) }, {
  $id: 'ComparedExampleV2',
  description: 'An example with the runs of experiments: the members that are selected.',
})

const scores = () =>
  Type.Record(Type.String(), Type.Object({ n: Type.Number(), avg: Nullable(Type.Number()) }))

const Group = Type.Object({
  // The value under each key; null where an experiment has none.
  group: JsonObject(),
  count: Type.Integer(),
  min_start_time: Time(),
  max_start_time: Time(),
  run_count: Type.Integer(),
  // The share of runs with an error; null without runs.
  error_rate: Nullable(Type.Number()),
  total_tokens: Type.Integer(),
  // In dollars, as a decimal text; null if no run has a price.
  total_cost: Nullable(Text()),
  feedback_stats: scores(),
  session_feedback_stats: scores(),
  experiments: Type.Array(Project),
}, { $id: 'ExperimentGroup', description: 'Experiments with the same metadata, with their sums.' })

export const listDatasetRuns = operation('POST', '/api/v1/datasets/:id/runs', {
  access: 'read',
  summary: 'List examples with the runs of experiments',
  body: Question,
  answer: Type.Array(Compared),
})

export const listExperimentRuns = operation('POST', '/api/v2/datasets/:id/experiment-runs', {
  access: 'read',
  summary: 'List examples with the runs of experiments, by cursors',
  body: Type.Object({
    experiment_ids: ids(20),
    example_ids: ids(1_000),
    comparative_experiment_id: Maybe(Uuid()),
    selects: Maybe(Type.Array(Text(100), { maxItems: 200 })),
    page_size: limit(),
    limit: limit(),
    cursor: Maybe(Text(8_192)),
  }),
  answer: Type.Object({ items: Type.Array(ComparedV2), next_cursor: Nullable(Text()) }),
})

export const groupExperiments = operation('POST', '/api/v1/datasets/:id/experiments/grouped', {
  access: 'read',
  summary: 'Group the experiments of a dataset by values of their metadata',
  body: Type.Object({
    metadata_keys: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), { minItems: 1,
      maxItems: 10 }),
    name_contains: Maybe(Text(1_000)),
    dataset_version: Maybe(Text(255)),
    experiment_limit: Maybe(Type.Integer({ minimum: 1, maximum: 100 })),
    // The statistics are exact.
    use_approx_stats: Type.Optional(Json()),
    // These are not offered: they would leave out experiments or runs.
    filter: Type.Optional(Json()),
    stats_start_time: Type.Optional(Json()),
    tag_value_id: Type.Optional(Json()),
  }),
  answer: Type.Object({ groups: Type.Array(Group) }),
  returns: ['x-pagination-total'],
})

/** A question for examples with the runs of experiments. */
export type DatasetRunsBody = Value<typeof Question>
/** Experiments with the same metadata, with their sums. */
export type ExperimentGroup = Value<typeof Group>
/** An example with the runs of experiments: the members of these that are selected. */
export type ComparedExampleV2 = Value<typeof ComparedV2>

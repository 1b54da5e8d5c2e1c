/** Projects of traces, which are sessions on this wire, with their statistics. */

import { Type } from 'typebox'
import type { TSchema } from 'typebox'

import { Json, JsonObject, Maybe, Nullable, Offset, OneOf, Text, Uuid } from '../json.ts'
import { operation } from '../operation.ts'
import type { Value } from '../operation.ts'
import { feedbackStats, statsWith } from './statistics.ts'

const fields = {
  start_time: Type.Optional(Json()),
  end_time: Type.Optional(Json()),
  description: Maybe(Text(10_000)),
  extra: Maybe(JsonObject({ 'x-max-characters': 48 * 1024 })),
  trace_tier: Maybe(Text(20)),
}

// Experiments describe themselves in these. They are answered as they came.
const ownFields = { num_examples: Type.Optional(Json()), num_repetitions: Type.Optional(Json()),
  evaluator_keys: Type.Optional(Json()), kicked_off_by: Type.Optional(Json()) }

const NewProject = Type.Object({ id: Maybe(Uuid()), name: Maybe(Text(1_000)),
  reference_dataset_id: Maybe(Uuid()), default_dataset_id: Maybe(Uuid()), ...fields, ...ownFields })

// They are there if they were asked for, and if there are not too many runs to count.
const statistics = <Cost extends TSchema>(cost: Cost) =>
  Type.Partial(Type.Object({
    ...statsWith(cost).properties,
    // Of the feedback on an experiment as a whole.
    session_feedback_stats: Nullable(feedbackStats()),
  }))
const Statistics = statistics(Text())

const shared = {
  id: Uuid(),
  tenant_id: Uuid(),
  name: Text(),
  start_time: Text(),
  end_time: Nullable(Text()),
  description: Nullable(Text()),
  extra: Nullable(JsonObject()),
  // The dataset of an experiment.
  reference_dataset_id: Nullable(Uuid()),
  default_dataset_id: Nullable(Uuid()),
  test_run_number: Type.Null(),
  ...ownFields,
  last_run_start_time_live: Nullable(Text()),
}

/** Schema of a project. */
export const Project = Type.Object({ ...shared, ...Statistics.properties,
  trace_tier: OneOf(['longlived', 'shortlived']) }, { $id: 'Project',
  description: 'A project of traces. Experiments are the projects with a dataset.' })

const ProjectV2 = Type.Object({ ...shared, ...statistics(Type.Number()).properties,
  trace_tier: OneOf(['LONG_LIVED', 'SHORT_LIVED']), type: OneOf(['PROJECT', 'EXPERIMENT']) }, {
  $id: 'ProjectV2',
  description: 'A project of traces. Its costs are numbers.',
})

const Message = Type.Object({ message: Text() })
const filters = {
  id: Type.Optional(Type.Array(Uuid(), { maxItems: 1_000 })),
  name: Type.Optional(Text(1_000)),
  name_contains: Type.Optional(Text(1_000)),
  metadata: Type.Optional(Text(16 * 1024)),
  include_stats: Type.Optional(Type.Boolean()),
}

export const createProject = operation('POST', '/api/v1/sessions', {
  access: 'change',
  summary: 'Create a project',
  query: Type.Object({ upsert: Type.Optional(Type.Boolean()) }),
  body: NewProject,
  answer: Project,
})

export const listProjects = operation('GET', '/api/v1/sessions', {
  access: 'read',
  summary: 'List projects',
  query: Type.Object({
    ...filters,
    reference_dataset: Type.Optional(Type.Array(Uuid(), { maxItems: 1_000 })),
    reference_free: Type.Optional(Type.Boolean()),
    sort_by: Type.Optional(Text(100)),
    sort_by_desc: Type.Optional(Type.Boolean()),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100 })),
    offset: Type.Optional(Offset()),
  }),
  answer: Type.Array(Project),
  returns: ['x-pagination-total'],
})

export const listProjectsV2 = operation('GET', '/api/v2/sessions', {
  access: 'read',
  summary: 'List projects, by cursors',
  query: Type.Object({
    ...filters,
    reference_dataset_id: Type.Optional(Type.Array(Uuid(), { maxItems: 100 })),
    type: Type.Optional(Type.Array(Text(20), { maxItems: 10 })),
    sort_by: Type.Optional(Text(100)),
    sort_order: Type.Optional(Text(10)),
    cursor: Type.Optional(Text(8_192)),
    page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  }),
  answer: Type.Object({ items: Type.Array(ProjectV2), next_cursor: Nullable(Text()) }),
})

export const findProject = operation('GET', '/api/v1/sessions/resolutions', {
  access: 'read',
  summary: 'Find the project of an agent, of an experiment, or of evaluators',
  query: Type.Object({ kind: Text(20), id: Type.Optional(Text(1_000)),
    environment: Type.Optional(Text(100)) }),
  answer: Type.Object({ session_id: Uuid() }),
})

export const getProject = operation('GET', '/api/v1/sessions/:id', {
  access: 'read',
  summary: 'Get a project',
  query: Type.Object({ include_stats: Type.Optional(Type.Boolean()) }),
  answer: Project,
})

export const patchProject = operation('PATCH', '/api/v1/sessions/:id', {
  access: 'change',
  summary: 'Change a project: null and what is missing stay',
  body: Type.Object({ name: Maybe(Text(1_000)), ...fields }),
  answer: Project,
})

export const deleteProject = operation('DELETE', '/api/v1/sessions/:id', {
  access: 'change',
  summary: 'Delete a project with its traces',
  answer: Message,
  status: 202,
})

export const deleteProjects = operation('DELETE', '/api/v1/sessions', {
  access: 'change',
  summary: 'Delete projects with their traces',
  query: Type.Object({ session_ids: Type.Array(Uuid(), { minItems: 1, maxItems: 100 }) }),
  answer: Message,
  status: 202,
})

/** A project as a client creates it. */
export type ProjectBody = Value<typeof NewProject>
/** A project of traces. */
export type Project = Value<typeof Project>
/** The same in the second API. Its costs are numbers. */
export type ProjectV2 = Value<typeof ProjectV2>
/** Statistics of a project, of which a request may select some. */
export type ProjectStats = Value<typeof Statistics>

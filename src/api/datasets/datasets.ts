/** Datasets: their names, schemas and metadata, their versions, and comparisons of experiments. */

import { Type } from 'typebox'

import { Json, JsonObject, Maybe, Nullable, Offset, OneOf, Text, Time, Uuid } from '../json.ts'
import { operation } from '../operation.ts'
import type { Value } from '../operation.ts'
import { Project } from '../traces/projects.ts'

const Body = Type.Object({
  name: Maybe(Text(1_000)),
  description: Maybe(Text(10_000)),
  data_type: Maybe(Text(20)),
  inputs_schema_definition: Type.Optional(Json()),
  outputs_schema_definition: Type.Optional(Json()),
  transformations: Maybe(Type.Array(Json(), { maxItems: 100 })),
  extra: Type.Optional(Json()),
  metadata: Type.Optional(Json()),
  baseline_experiment_id: Maybe(Uuid()),
})

const Dataset = Type.Object({
  id: Uuid(),
  tenant_id: Uuid(),
  name: Text(),
  description: Nullable(Text()),
  data_type: OneOf(['kv', 'llm', 'chat']),
  inputs_schema_definition: Nullable(JsonObject()),
  outputs_schema_definition: Nullable(JsonObject()),
  transformations: Nullable(Type.Array(Json())),
  externally_managed: Type.Boolean(),
  created_at: Time(),
  modified_at: Time(),
  example_count: Type.Integer(),
  // Experiments that ran over it.
  session_count: Type.Integer(),
  last_session_start_time: Nullable(Time()),
  baseline_experiment_id: Nullable(Uuid()),
  metadata: JsonObject(),
}, { $id: 'Dataset', description: 'A dataset without its examples.' })

const Version = Type.Object({ as_of: Time(), tags: Type.Array(Text()) }, {
  $id: 'DatasetVersion',
  description: 'A moment at which examples changed, with the tags that name it.',
})

const Difference = Type.Object({
  examples_added: Type.Array(Uuid()),
  examples_modified: Type.Array(Uuid()),
  examples_removed: Type.Array(Uuid()),
})

const Comparison = Type.Object({
  id: Uuid(),
  name: Text(),
  description: Nullable(Text()),
  tenant_id: Uuid(),
  reference_dataset_id: Uuid(),
  created_at: Time(),
  modified_at: Time(),
  extra: JsonObject(),
  experiments_info: Type.Array(Type.Object({ id: Uuid(), name: Text() })),
  feedback_stats: JsonObject(),
}, { $id: 'Comparison', description: 'Experiments of one dataset that are shown side by side.' })

const Message = Type.Object({ message: Text() })
const version = () => Type.String({ minLength: 1, maxLength: 255 })
const page = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100 })),
  offset: Type.Optional(Offset()),
}
/** The query of a version of a dataset: a time or a tag. */
export const asOfField = { as_of: Type.Optional(Text(255)) }
const filters = {
  id: Type.Optional(Type.Array(Uuid(), { maxItems: 1_000 })),
  name: Type.Optional(Text(1_000)),
  name_contains: Type.Optional(Text(1_000)),
  metadata: Type.Optional(Text(16 * 1024)),
  data_type: Type.Optional(Type.Array(Text(20), { maxItems: 10 })),
  sort_by: Type.Optional(Text(100)),
}

export const createDataset = operation('POST', '/api/v1/datasets', {
  access: 'change',
  summary: 'Create a dataset without examples',
  body: Type.Object({ ...Body.properties, id: Maybe(Uuid()) }),
  answer: Dataset,
})

export const uploadDataset = operation('POST', '/api/v1/datasets/upload', {
  access: 'change',
  summary: 'Create a dataset of a file, in a multipart body',
  raw: true,
  answer: Dataset,
})

export const uploadExperiment = operation('POST', '/api/v1/datasets/upload-experiment', {
  access: 'change',
  summary: 'Create an experiment that ran elsewhere, and its dataset if there is none',
  body: JsonObject(),
  raw: true,
  answer: Type.Object({ dataset: Dataset, experiment: Project }),
})

export const listDatasets = operation('GET', '/api/v1/datasets', {
  access: 'read',
  summary: 'List datasets',
  query: Type.Object({ ...filters, sort_by_desc: Type.Optional(Type.Boolean()), ...page }),
  answer: Type.Array(Dataset),
})

export const listDatasetsV2 = operation('GET', '/api/v2/datasets', {
  access: 'read',
  summary: 'List datasets, by cursors',
  query: Type.Object({
    ...filters,
    sort_order: Type.Optional(Text(10)),
    cursor: Type.Optional(Text(8_192)),
    page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  }),
  answer: Type.Object({ items: Type.Array(Dataset), next_cursor: Nullable(Text()) }),
})

export const getDataset = operation('GET', '/api/v1/datasets/:id', {
  access: 'read',
  summary: 'Get a dataset',
  answer: Dataset,
})

export const patchDataset = operation('PATCH', '/api/v1/datasets/:id', {
  access: 'change',
  summary: 'Change a dataset: null and what is missing stay',
  body: Body,
  answer: Dataset,
})

export const deleteDataset = operation('DELETE', '/api/v1/datasets/:id', {
  access: 'change',
  summary: 'Delete a dataset with its examples',
  answer: Message,
})

export const tagDatasetVersion = operation('PUT', '/api/v1/datasets/:id/tags', {
  access: 'change',
  summary: 'Name a version; a tag that names another one moves',
  body: Type.Object({ as_of: version(), tag: version() }),
  answer: Version,
})

export const getDatasetVersion = operation('GET', '/api/v1/datasets/:id/version', {
  access: 'read',
  summary: 'Find the version of a time or a tag',
  query: Type.Object({ ...asOfField, tag: Type.Optional(version()) }),
  answer: Version,
})

export const listDatasetVersions = operation('GET', '/api/v1/datasets/:id/versions', {
  access: 'read',
  summary: 'List versions, the newest first',
  query: Type.Object({ search: Type.Optional(Text(255)), ...page }),
  answer: Type.Array(Version),
})

export const compareDatasetVersions = operation('GET', '/api/v1/datasets/:id/versions/diff', {
  access: 'read',
  summary: 'List the ids of examples that differ between two versions',
  query: Type.Object({ from_version: version(), to_version: version() }),
  answer: Difference,
})

export const listDatasetSplits = operation('GET', '/api/v1/datasets/:id/splits', {
  access: 'read',
  summary: 'List the names of splits',
  query: Type.Object(asOfField),
  answer: Type.Array(Text()),
})

export const changeDatasetSplit = operation('PUT', '/api/v1/datasets/:id/splits', {
  access: 'change',
  summary: 'Put examples into a split, or take them out',
  body: Type.Object({
    split_name: Type.String({ minLength: 1, maxLength: 255 }),
    examples: Type.Array(Uuid(), { maxItems: 10_000 }),
    remove: Type.Optional(Type.Boolean()),
  }),
  answer: Type.Array(Uuid()),
})

export const createComparison = operation('POST', '/api/v1/datasets/comparative', {
  access: 'change',
  summary: 'Create a comparison of experiments',
  body: Type.Object({
    id: Maybe(Uuid()),
    name: Maybe(Text(1_000)),
    description: Maybe(Text(10_000)),
    experiment_ids: Type.Array(Uuid(), { minItems: 1, maxItems: 100 }),
    reference_dataset_id: Maybe(Uuid()),
    extra: Maybe(JsonObject({ 'x-max-characters': 48 * 1024 })),
  }),
  answer: Comparison,
})

export const listComparisons = operation('GET', '/api/v1/datasets/:id/comparative', {
  access: 'read',
  summary: 'List the comparisons of a dataset',
  query: Type.Object({
    id: Type.Optional(Type.Array(Uuid(), { maxItems: 1_000 })),
    name: Type.Optional(Text(1_000)),
    name_contains: Type.Optional(Text(1_000)),
    ...page,
  }),
  answer: Type.Array(Comparison),
})

export const deleteComparison = operation('DELETE', '/api/v1/datasets/comparative/:id', {
  access: 'change',
  summary: 'Delete a comparison; its experiments stay',
  answer: Message,
})

/** A dataset as a client writes it. */
export type DatasetBody = Value<typeof Body>
/** A dataset without its examples. */
export type Dataset = Value<typeof Dataset>
/** A moment at which examples changed, with the tags that name it. */
export type DatasetVersion = Value<typeof Version>
/** Ids of the examples that differ between two versions. */
export type VersionDiff = Value<typeof Difference>
/** Experiments of one dataset that are shown side by side. */
export type Comparison = Value<typeof Comparison>

/** Examples of datasets: inputs, the outputs that are wanted, and metadata. */

import { Type } from 'typebox'

import { asOfField } from './datasets.ts'
import { Json, JsonObject, Maybe, Nullable, Offset, OneOf, Text, Time, Uuid } from '../json.ts'
import { operation } from '../operation.ts'
import type { Value } from '../operation.ts'

const Attachment = Type.Object({ presigned_url: Text(), s3_url: Text(),
  mime_type: Nullable(Text()) })

/** Schema of an example. */
export const Example = Type.Object({
  id: Uuid(),
  dataset_id: Uuid(),
  name: Text(),
  created_at: Time(),
  modified_at: Time(),
  source_run_id: Nullable(Uuid()),
  inputs: JsonObject(),
  // These are left out unless they are selected; links to files are, without a selection.
  outputs: Maybe(JsonObject()),
  metadata: Maybe(JsonObject()),
  attachment_urls: Maybe(
    Type.Record(Text(), Attachment, {
      description: 'Links to files, by their names with `attachment.` before them.',
    }),
  ),
}, { $id: 'Example', description: 'An example.' })

const Checked = Type.Object({
  id: Nullable(Uuid()),
  dataset_id: Uuid(),
  metadata: Nullable(JsonObject()),
  split: Json(),
  source_run_id: Nullable(Uuid()),
  created_at: Nullable(Time()),
  overwrite: Type.Boolean(),
  use_source_run_io: Type.Boolean(),
  inputs: Nullable(JsonObject()),
  outputs: Nullable(JsonObject()),
}, { $id: 'CheckedExample', description: 'An example that was checked and not made.' })

const Body = Type.Object({
  inputs: Maybe(JsonObject()),
  outputs: Maybe(JsonObject()),
  metadata: Maybe(JsonObject()),
  split: Type.Optional(Nullable(Type.Union([Text(), Type.Array(Text())]))),
  source_run_id: Maybe(Uuid()),
})
const NewExample = Type.Object({ dataset_id: Maybe(Uuid()), id: Maybe(Uuid()), ...Body.properties })
const Change = Type.Object({ id: Uuid(), ...Body.properties })

const Message = Type.Object({ message: Text() })
const texts = (maxItems: number) =>
  Type.Optional(Type.Array(Text(1_000), { maxItems, 'x-verbatim': true }))
const Filters = Type.Object({
  ...asOfField,
  dataset: Type.Optional(Uuid()),
  id: Type.Optional(Type.Array(Uuid(), { maxItems: 1_000 })),
  splits: texts(100),
  metadata: Type.Optional(Text(16 * 1024)),
  full_text_contains: texts(20),
  filter: Type.Optional(Text(8_192)),
})

export const listExamples = operation('GET', '/api/v1/examples', {
  access: 'read',
  summary: 'List examples of a dataset, or those with the given ids',
  query: Type.Object({
    ...Filters.properties,
    select: texts(20),
    order: Type.Optional(Text(30)),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
    offset: Type.Optional(Offset()),
  }),
  answer: Type.Array(Example),
})

export const countExamples = operation('GET', '/api/v1/examples/count', {
  access: 'read',
  summary: 'Count examples of a dataset',
  query: Filters,
  answer: Type.Integer(),
})

export const getExample = operation('GET', '/api/v1/examples/:id', {
  access: 'read',
  summary: 'Get an example, as it was at a version',
  query: Type.Object({ ...asOfField, dataset: Type.Optional(Uuid()) }),
  answer: Example,
})

export const createExample = operation('POST', '/api/v1/examples', {
  access: 'change',
  summary: 'Create an example',
  body: NewExample,
  raw: true,
  answer: Example,
})

export const createExamples = operation('POST', '/api/v1/examples/bulk', {
  access: 'change',
  summary: 'Create examples',
  body: Type.Array(NewExample),
  raw: true,
  answer: Type.Array(Example),
})

export const validateExample = operation('POST', '/api/v1/examples/validate', {
  access: 'read',
  summary: 'Check an example without making it',
  body: NewExample,
  raw: true,
  answer: Checked,
})

export const validateExamples = operation('POST', '/api/v1/examples/validate/bulk', {
  access: 'read',
  summary: 'Check examples without making them',
  body: Type.Array(NewExample),
  raw: true,
  answer: Type.Array(Checked),
})

export const patchExamples = operation('PATCH', '/api/v1/examples/bulk', {
  access: 'change',
  summary: 'Change examples',
  body: Type.Array(Change),
  raw: true,
  answer: Type.Object({ message: Text(), count: Type.Integer() }),
})

export const patchExample = operation('PATCH', '/api/v1/examples/:id', {
  access: 'change',
  summary: 'Change an example: a member that is missing stays',
  body: Body,
  raw: true,
  answer: Message,
})

export const deleteExample = operation('DELETE', '/api/v1/examples/:id', {
  access: 'change',
  summary: 'Delete an example; earlier versions still have it',
  answer: Message,
})

export const deleteExamples = operation('DELETE', '/api/v1/examples', {
  access: 'change',
  summary: 'Delete examples; earlier versions still have them',
  query: Type.Object({ example_ids: Type.Array(Uuid(), { minItems: 1, maxItems: 1_000 }) }),
  answer: Message,
})

export const deleteExampleOf = operation('DELETE',
  '/api/v1/platform/datasets/:id/examples/:example', {
  access: 'change',
  summary: 'Delete an example of a dataset',
})

export const eraseExamples = operation('POST', '/api/v1/platform/datasets/examples/delete', {
  access: 'change',
  summary: 'Delete examples, with `hard_delete` from all versions',
  body: Type.Object({ example_ids: Type.Array(Uuid()), hard_delete: Maybe(Type.Boolean()) }),
  raw: true,
  answer: Type.Object({ count: Type.Integer() }),
})

export const patchExampleMetadata = operation('PATCH',
  '/api/v1/platform/datasets/:id/examples/metadata', {
  access: 'change',
  summary: 'Change the metadata of examples',
  body: Type.Object({ example_ids: Type.Array(Uuid()), operations: Type.Array(JsonObject()) }),
  raw: true,
  status: 207,
  answer: Type.Object({
    statuses: Type.Array(
      Type.Object({ id: Text(), status: OneOf(['UPDATED', 'NOT_FOUND']),
        description: Type.Optional(Text()) }),
    ),
  }),
})

const parts = {
  access: 'change',
  raw: true,
  status: 201,
  answer: Type.Object({ count: Type.Integer(), example_ids: Type.Array(Uuid()),
    as_of: Nullable(Time()) }),
} as const

export const createExampleParts = operation('POST', '/api/v1/platform/datasets/:id/examples', {
  ...parts,
  summary: 'Create examples with files, of a multipart body',
})

export const patchExampleParts = operation('PATCH', '/api/v1/platform/datasets/:id/examples', {
  ...parts,
  summary: 'Change examples with files, of a multipart body',
})

/** An example as a client reads it. */
export type Example = Value<typeof Example>
/** The members of an example that a client writes. */
export type ExampleBody = Value<typeof Body>

/**
 * Deletions of all traces that a question finds. They go on after the answer. The paths are our
 * own, in the manner of the bulk exports of the hosted API.
 */

import { Type } from 'typebox'

import { Json, Maybe, Nullable, OneOf, Text, Time, Uuid } from './json.ts'
import { operation } from './operation.ts'
import type { Value } from './operation.ts'

const members = {
  session: Type.Array(Uuid(), { minItems: 1, maxItems: 100 }),
  run_type: Maybe(Text(8_192)),
  reference_example: Maybe(Type.Array(Uuid(), { maxItems: 100 })),
  start_time: Type.Optional(Json()),
  end_time: Type.Optional(Json()),
  error: Maybe(Type.Boolean()),
  query: Maybe(Text(8_192)),
  search_filter: Maybe(Text(8_192)),
  filter: Maybe(Text(8_192)),
  trace_filter: Maybe(Text(8_192)),
  tree_filter: Maybe(Text(8_192)),
  is_root: Maybe(Type.Boolean()),
}

// A misspelt condition that was dropped would delete too much: unknown members are refused.
const Body = Type.Object(members, { additionalProperties: false })

const Deletion = Type.Object({
  ...members,
  id: Uuid(),
  status: OneOf(['Created', 'Running', 'Completed', 'Cancelled', 'Failed']),
  // Traces that arrived then or later stay.
  arrived_before: Time(),
  created_at: Time(),
  updated_at: Time(),
  finished_at: Nullable(Time()),
  looked_at_runs: Type.Integer(),
  matched_runs: Type.Integer(),
  deleted_traces: Type.Integer(),
  reached_start_time: Nullable(Time()),
  // Its last failure.
  error: Nullable(Text()),
}, { $id: 'BulkDeletion', description: 'A deletion: what was asked, and how far it is.' })

export const createBulkDeletion = operation('POST', '/api/v1/bulk-deletions', {
  access: 'change',
  summary: 'Begin to delete all traces that a question finds',
  body: Body,
  answer: Deletion,
  status: 202,
})

export const listBulkDeletions = operation('GET', '/api/v1/bulk-deletions', {
  access: 'read',
  summary: 'List deletions',
  answer: Type.Array(Deletion),
})

export const getBulkDeletion = operation('GET', '/api/v1/bulk-deletions/:id', {
  access: 'read',
  summary: 'Get a deletion',
  answer: Deletion,
})

export const cancelBulkDeletion = operation('PATCH', '/api/v1/bulk-deletions/:id', {
  access: 'change',
  summary: 'Cancel a deletion: what it has deleted stays deleted',
  body: Type.Object({ status: OneOf(['Cancelled']) }),
  answer: Deletion,
})

/** The projects and the conditions of a deletion, as a client writes them. */
export type BulkDeletionBody = Value<typeof Body>
/** A deletion as a client reads it. */
export type BulkDeletion = Value<typeof Deletion>

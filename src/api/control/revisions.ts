/** Revisions of deployments: begun from a manifest, uploaded chunk by chunk, listed and removed. */

import { Type } from 'typebox'

import { ChunkPath, DeploymentPath, Message, PageOf, RevisionPath } from './control-parts.ts'
import { JsonObject, Nullable, OneOf, Text, Time } from '../json.ts'
import { operation } from '../operation.ts'
import type { Value } from '../operation.ts'

/** Schema of a number that may not have been counted. */
export const Counted = () =>
  Nullable(Type.Integer({ description: 'Null if they were not counted.' }))

/** Schema of a graph that cannot be loaded. */
export const GraphFailure = Type.Object({ graph_id: Text(), message: Text(),
  at: Nullable(Type.String({ description: 'The place in the project.' })) })

/** Schema of a revision. */
export const Revision = Type.Object({
  name: Text(),
  state: OneOf(['uploading', 'building', 'ready', 'refused', 'removed']),
  hash: Text(),
  message: Text(),
  by: Text(),
  bytes: Type.Integer(),
  files: Type.Integer(),
  platform: Nullable(Text()),
  source: Nullable(
    Type.Object({ commit: Nullable(Text()), branch: Nullable(Text()), dirty: Type.Boolean() }),
  ),
  wants_env: Type.Array(Text()),
  graphs: Type.Array(Type.Object({ graph_id: Text(), nodes: Type.Array(Text()) })),
  reason: Nullable(Text()),
  failures: Type.Array(GraphFailure),
  created_at: Time(),
  expires_at: Nullable(Time()),
  active_at: Nullable(Time()),
  running: Counted(),
  waiting_threads: Counted(),
}, { $id: 'Revision', description: 'The revision.' })

const missing = Type.Array(Text(), { description: 'SHA-256 of the chunks that are missing.' })

/** Schema of a revision whose files are still to come. */
export const BegunRevision = Type.Object({ revision: Revision, missing,
  expires_at: Nullable(Time()) }, { $id: 'BegunRevision', description: 'What is to be uploaded.' })

export const createRevision = operation('POST', '/control/v1/deployments/:deployment/revisions', {
  access: 'deploy',
  summary: 'Begin a revision; the same manifest gives the one that is there',
  params: DeploymentPath,
  body: Type.Object({
    manifest: JsonObject({ description: 'What `heddle build` writes.' }),
    message: Message(),
  }, { examples: [{ manifest: {}, message: 'Answer in French' }] }),
  answer: BegunRevision,
  status: 201,
  also: { 200: BegunRevision },
})

export const listRevisions = operation('GET', '/control/v1/deployments/:deployment/revisions', {
  access: 'deploy',
  summary: 'List the revisions of a deployment, newest first',
  params: DeploymentPath,
  query: PageOf,
  answer: Type.Object({ revisions: Type.Array(Revision) }, { $id: 'Revisions',
    description: 'Revisions, the newest first.' }),
})

export const getRevision = operation('GET',
  '/control/v1/deployments/:deployment/revisions/:revision', {
  access: 'deploy',
  summary: 'Get a revision',
  params: RevisionPath,
  answer: Revision,
})

export const deleteRevision = operation('DELETE',
  '/control/v1/deployments/:deployment/revisions/:revision', {
  access: 'deploy',
  summary: 'Remove what a revision was made of',
  params: RevisionPath,
  query: Type.Object({
    force: Type.Optional(Type.Boolean({ description: 'Although runs or threads need it.' })),
  }),
  answer: Revision,
})

export const listMissingChunks = operation('GET',
  '/control/v1/deployments/:deployment/revisions/:revision/chunks', {
  access: 'deploy',
  summary: 'List what is still to be uploaded',
  params: RevisionPath,
  answer: Type.Object({ missing }, { $id: 'MissingChunks',
    description: 'What is to be uploaded.' }),
})

export const uploadChunk = operation('PUT',
  '/control/v1/deployments/:deployment/revisions/:revision/chunks/:sha256', {
  access: 'deploy',
  summary: 'Upload a chunk: up to 4 MiB with this hash',
  params: ChunkPath,
})

/** A graph that cannot be loaded. */
export type ControlFailure = Value<typeof GraphFailure>
/** A revision. */
export type ControlRevision = Value<typeof Revision>
/** A revision with the chunks that must still be uploaded. */
export type ControlUpload = Value<typeof BegunRevision>

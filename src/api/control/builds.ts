/** Builds: the files of a project come, and a member makes a revision of them. */

import { Type } from 'typebox'

import { ChunkPath, DeploymentPath, Message, RevisionPath, Sha256, Whole } from './control-parts.ts'
import { Nullable, Text } from '../json.ts'
import { operation } from '../operation.ts'
import { BegunRevision, Revision } from './revisions.ts'

export const createBuild = operation('POST', '/control/v1/deployments/:deployment/builds', {
  access: 'deploy',
  summary: "Begin a revision that is built here, from the project's own files",
  params: DeploymentPath,
  body: Type.Object({
    archive: Type.Object({
      hash: Sha256(),
      bytes: Whole(1, Number.MAX_SAFE_INTEGER),
      files: Whole(0, Number.MAX_SAFE_INTEGER),
      chunks: Type.Array(Type.Object({ sha256: Sha256(), bytes: Whole(1, 4 * 1024 * 1024) }), {
        minItems: 1,
        maxItems: 1_000,
      }),
    }, { description: "The package archive of the project's own files." }),
    config: Type.String({ maxLength: 255,
      description: 'The langgraph.json, from the root of the files.' }),
    wants_env: Type.Optional(
      Type.Array(Text(1_000), { maxItems: 1_000,
        description: 'Names of the variables of its dotenv file.' }),
    ),
    source: Type.Optional(
      Type.Object({ commit: Nullable(Text(1_000)), branch: Nullable(Text(1_000)),
        dirty: Type.Boolean() }),
    ),
    message: Message(),
  }, {
    examples: [{
      archive: { hash: '0'.repeat(64), bytes: 1_024, files: 1,
        chunks: [{ sha256: '0'.repeat(64), bytes: 300 }] },
      config: 'langgraph.json',
    }],
  }),
  answer: BegunRevision,
  status: 201,
})

export const startBuild = operation('POST',
  '/control/v1/deployments/:deployment/revisions/:revision/build', {
  access: 'deploy',
  summary: 'Build a revision whose files are uploaded; its lines are read from /logs?build=',
  params: RevisionPath,
  body: Type.Object({
    activate: Type.Optional(
      Type.Boolean({ default: false, description: 'Whether it is made active when it is built.' }),
    ),
  }, { examples: [{}] }),
  answer: Revision,
  status: 202,
})

export const uploadSource = operation('PUT',
  '/control/v1/deployments/:deployment/revisions/:revision/source/:sha256', {
  access: 'deploy',
  summary: "Upload a chunk of a project's own files",
  params: ChunkPath,
})

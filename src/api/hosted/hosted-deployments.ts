/**
 * Deployments, as the official commands call them: `langgraphjs deploy --remote --host-url
 * …/control/hosted`, and `langgraph deploy`, which finds them by `LANGSMITH_ENDPOINT`.
 */

import { Type } from 'typebox'

import { JsonObject, Maybe, OneOf, Text, Time } from '../json.ts'
import { operation } from '../operation.ts'
import type { Value } from '../operation.ts'

/** The path of a deployment: its id, or its name. */
export const HostedPath = Type.Object({ id: Text(63) })

const Page = Type.Object({
  name: Type.Optional(Text(100)),
  name_contains: Type.Optional(Text(100)),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
  offset: Type.Optional(Type.Integer({ minimum: 0 })),
})

const Secrets = Type.Array(
  Type.Object({ name: Type.String({ maxLength: 100, pattern: '^[A-Za-z_][A-Za-z0-9_]{0,99}$' }),
    value: Text(65_536) }),
  { maxItems: 100 },
)

const Deployment = Type.Object({
  id: Text(),
  name: Text(),
  source: Text(),
  source_config: Type.Object({ custom_url: Text(), deployment_type: Text() }),
  source_revision_config: JsonObject(),
  secrets: Type.Array(JsonObject()),
  status: OneOf(['AWAITING_DATABASE', 'READY']),
  created_at: Time(),
  updated_at: Time(),
}, { $id: 'HostedDeployment', description: 'A deployment. `custom_url` is where it is served.' })

export const listHostedDeployments = operation('GET', '/control/hosted/v2/deployments', {
  access: 'deploy',
  summary: 'List deployments',
  query: Page,
  answer: Type.Object({ offset: Type.Integer(), resources: Type.Array(Deployment) }),
})

export const createHostedDeployment = operation('POST', '/control/hosted/v2/deployments', {
  access: 'deploy',
  summary: 'Create a deployment',
  body: Type.Object({ name: Text(63), source: Text(100), secrets: Type.Optional(Secrets) }),
  answer: Deployment,
  status: 201,
})

export const getHostedDeployment = operation('GET', '/control/hosted/v2/deployments/:id', {
  access: 'deploy',
  summary: 'Get a deployment',
  params: HostedPath,
  answer: Deployment,
})

export const deleteHostedDeployment = operation('DELETE', '/control/hosted/v2/deployments/:id', {
  access: 'deploy',
  summary: 'Remove a deployment with all of its data',
  params: HostedPath,
})

export const updateHostedDeployment = operation('PATCH', '/control/hosted/v2/deployments/:id', {
  access: 'deploy',
  summary: 'Build what was uploaded, and make it active',
  params: HostedPath,
  body: Type.Object({
    revision_source: Text(100),
    source_revision_config: Type.Object({
      source_tarball_path: Type.Optional(Text(100)),
      langgraph_config_path: Type.Optional(Text(255)),
    }),
    source_config: Type.Optional(Type.Object({
      install_command: Maybe(Text(10_000)),
      build_command: Maybe(Text(10_000)),
    })),
    secrets: Type.Optional(Secrets),
  }),
  answer: Deployment,
})

export const createPushToken = operation('POST', '/control/hosted/v2/deployments/:id/push-token', {
  access: 'deploy',
  summary: 'Refused: no images are taken',
  params: HostedPath,
})

export const createUploadUrl = operation('POST', '/control/hosted/v2/deployments/:id/upload-url', {
  access: 'deploy',
  summary: 'Begin a revision, and get the address to which its archive is uploaded',
  params: HostedPath,
  answer: Type.Object({ object_path: Text(), upload_url: Text() }),
})

export const uploadArchive = operation('PUT', '/control/hosted/uploads/:address', {
  // The address is what its caller shows: the command sends no key there.
  access: 'public',
  summary: 'Upload the archive of a revision',
  raw: true,
  status: 200,
})

export const listListeners = operation('GET', '/control/hosted/v2/listeners', {
  access: 'deploy',
  summary: 'List listeners: there are none, as the servers of the cluster take all deployments',
  query: Page,
  answer: Type.Object({ offset: Type.Integer(), resources: Type.Array(JsonObject()) }),
})

export const getListener = operation('GET', '/control/hosted/v2/listeners/:id', {
  access: 'deploy',
  summary: 'Refused: there are no listeners',
  params: HostedPath,
})

/** Secrets, each with its name and its value. */
export type HostedSecrets = Value<typeof Secrets>
/** A deployment as the official commands read it. */
export type HostedDeployment = Value<typeof Deployment>

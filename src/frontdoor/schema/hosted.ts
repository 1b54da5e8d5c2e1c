/** The schemas of requests that the command `langgraphjs deploy` sends. */

import { Type } from 'typebox'
import type { Static, TSchemaOptions } from 'typebox'

const Text = (maxLength: number, options: TSchemaOptions = {}) =>
  Type.String({ maxLength, ...options })

/** The path of a deployment: its id, or its name. */
export const HostedPath = Type.Object({ id: Text(63) })
/** The path of a revision. */
export const HostedRevisionPath = Type.Object({ id: Text(63), revision: Text(63) })

/** Query of requests for deployments. */
export const HostedDeployments = Type.Object({
  name: Type.Optional(Text(100)),
  name_contains: Type.Optional(Text(100)),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000 })),
  offset: Type.Optional(Type.Integer({ minimum: 0 })),
})
/** Query of requests for revisions. */
export const HostedRevisions = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
})

const Secrets = Type.Optional(
  Type.Array(
    Type.Object({ name: Text(100, { pattern: '^[A-Za-z_][A-Za-z0-9_]{0,99}$' }),
      value: Text(65_536) }),
    { maxItems: 100 },
  ),
)
/** Secrets of a body, each with its name and its value. */
export type HostedSecrets = readonly { readonly name: string; readonly value: string }[]

/** Body of requests that make a deployment. */
export const HostedCreate = Type.Object({ name: Text(63), source: Text(100), secrets: Secrets })

/** Body of requests that build what was uploaded. */
export const HostedUpdate = Type.Object({
  revision_source: Text(100),
  source_revision_config: Type.Object({
    source_tarball_path: Type.Optional(Text(100)),
    langgraph_config_path: Type.Optional(Text(255)),
  }),
  source_config: Type.Optional(Type.Object({
    install_command: Type.Optional(Type.Union([Text(10_000), Type.Null()])),
    build_command: Type.Optional(Type.Union([Text(10_000), Type.Null()])),
  })),
  secrets: Secrets,
})
/** A checked body of `HostedUpdate`. */
export type HostedUpdate = Static<typeof HostedUpdate>

/** Body of requests that read lines. */
export const HostedLines = Type.Object({
  order: Type.Optional(Type.Union([Type.Literal('asc'), Type.Literal('desc')])),
  limit: Type.Optional(Type.Integer({ minimum: 1 })),
  offset: Type.Optional(Type.Union([Text(40), Type.Null()])),
  level: Type.Optional(Text(20)),
  query: Type.Optional(Text(1_000)),
  start_time: Type.Optional(Text(40)),
  end_time: Type.Optional(Text(40)),
})
/** A checked body of `HostedLines`. */
export type HostedLines = Static<typeof HostedLines>

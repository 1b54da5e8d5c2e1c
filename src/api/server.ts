/** The server itself: its health, its description, and the caller as it knows it. */

import { Type } from 'typebox'

import { dependencies } from './failure.ts'
import { JsonObject, Nullable, OneOf, Text, Time } from './json.ts'
import { operation } from './operation.ts'
import type { Value } from './operation.ts'

const failing = Type.Optional(
  Type.Object({ not_serving: Type.Integer(), names: Type.Optional(Type.Array(Text())) }, {
    description: 'Deployments that this server cannot load, if there are any; their names for ' +
      'callers of this machine.',
  }),
)

const Ok = Type.Object({ ok: Type.Boolean(), dependencies, deployments: failing }, { $id: 'Ok',
  description: 'It serves.' })

const graphs = Type.Optional(
  Type.Array(
    Type.Object({ graph_id: Text(),
      error: Type.Optional(Type.String({ description: 'Why it cannot be loaded.' })) }),
  ),
)

const Caller = Type.Object({
  tenant: Text(),
  role: OneOf(['admin', 'developer', 'reader', 'deployer']),
  user: Nullable(Text()),
  key_id: Nullable(Text()),
  region: Nullable(Text()),
  expires_at: Nullable(Time()),
  method: OneOf(['none', 'key', 'session']),
  org_config: JsonObject({ description: 'The tenant, as clients of traces read it.' }),
  graphs,
}, { $id: 'Caller', description: 'The caller. `graphs` if the server takes credentials.' })

const flag = Type.Boolean()

const Info = Type.Object({
  auth: OneOf(['none', 'keys', 'sessions', 'keys+sessions'], {
    description: 'The credentials that it takes.',
  }),
  features: Type.Object({ studio: flag, traces: flag, crons: flag, store: flag, cluster: flag,
    keys: flag, deployments: flag }),
  graphs,
  version: Text(),
  context: Type.Literal('js'),
  flags: JsonObject(),
  metadata: JsonObject(),
  region: Type.Optional(
    Type.Object({ name: Text(),
      api_url: Type.Optional(Type.String({ description: 'The URL of the region.' })),
      egress: Type.Array(Type.String(), { description: 'Addresses that its outgoing calls have.' }),
      ingress: Type.Array(Type.String(), { description: 'Addresses of its hosts.' }) }),
  ),
}, { $id: 'Info', description: 'What the server is.' })

export const checkServer = operation('GET', '/ok', {
  asks: { nothing: 'Probes have no login, and it tells of no data.' },
  access: 'public',
  summary: 'Whether the server serves',
  query: Type.Object({
    check_db: Type.Optional(Type.Boolean({ description: 'Also check what it depends on.' })),
  }),
  answer: Ok,
})

export const getServerInfo = operation('GET', '/info', {
  asks: { nothing: 'It is open to everybody, and tells of no data.' },
  access: 'public',
  summary: 'What the server is and offers',
  answer: Info,
})

// The router has the bare path `/auth` here, which is also the platform's.
export const getCaller = operation('GET', '/api/v1/auth', {
  access: 'self',
  summary: 'Who the caller is, and what it may do',
  answer: Caller,
})

/** The server as it describes itself. */
export type ServerInfo = Value<typeof Info>
/** The caller as the server knows it. */
export type CallerDetails = Value<typeof Caller>

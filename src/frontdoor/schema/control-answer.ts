/** Schemas of the answers of the control API. They only document. */

import { Type } from 'typebox'
import type { TSchema } from 'typebox'

import { JsonObject, Nullable, OneOf } from './json.ts'

const Time = () => Type.String({ format: 'date-time' })
const Text = () => Type.String()
const Count = () => Type.Integer()
const named = <Name extends string, Rows extends TSchema>(name: Name, id: string, rows: Rows,
  description: string) => Type.Object({ [name]: rows }, { $id: id, description })

const members = Type.Array(
  Type.Object({ id: Text(), state: OneOf(['waiting', 'ready', 'confirmed', 'silent']),
    ms: Nullable(Type.Number()) }),
)
const failures = Type.Array(
  Type.Object({ graph_id: Text(), message: Text(), at: Nullable(Text()) }),
)
const next = Nullable(Type.Object({ revision: Text(), percent: Count() }))

const rolloutFields = { id: Text(), kind: OneOf(['check', 'activate', 'rollback', 'secrets']),
  revision: Text(), from: Nullable(Text()), percent: Count(), members, by: Text(),
  started_at: Time() }

const Rollout = Type.Object({ ...rolloutFields,
  phase: OneOf(['preparing', 'confirming', 'watching']), watch_s: Type.Number(), message: Text() },
  {
    $id: 'Rollout',
    description: 'A roll-out that is under way.',
  })

const RolloutOutcome = Type.Object({ ...rolloutFields,
  result: OneOf(['done', 'refused', 'failed', 'rolled_back']), reason: Nullable(Text()), failures,
  ended_at: Time() }, { $id: 'RolloutOutcome', description: 'A roll-out that has ended.' })

const Deployment = Type.Object({
  name: Text(),
  tenant: Text(),
  access: OneOf(['own', 'any']),
  url: Type.String({ description: 'Where its data are served.' }),
  hosts: Type.Array(Text()),
  limits: Type.Object({ workers: Count(), memory_mb: Count(), concurrency: Count(),
    run_timeout_s: Count(), body_mb: Count(),
    requests: Nullable(Type.Object({ count: Count(), interval_s: Count() })) }),
  paused: Type.Boolean(),
  active: Nullable(Text()),
  previous: Nullable(Text()),
  next,
  env_version: Count(),
  rollout: Nullable(Type.Object(Rollout.properties)),
  last_rollout: Nullable(Type.Object(RolloutOutcome.properties)),
  preview: Nullable(Type.Object({ of: Text(), label: Text(), ttl_s: Type.Number() })),
  created_at: Time(),
  updated_at: Time(),
}, { $id: 'Deployment', description: 'The deployment.' })

const Revision = Type.Object({
  name: Text(),
  state: OneOf(['uploading', 'building', 'ready', 'refused', 'removed']),
  hash: Text(),
  message: Text(),
  by: Text(),
  bytes: Count(),
  files: Count(),
  platform: Nullable(Text()),
  source: Nullable(JsonObject()),
  wants_env: Type.Array(Text()),
  graphs: Type.Array(Type.Object({ graph_id: Text(), nodes: Type.Array(Text()) })),
  reason: Nullable(Text()),
  failures,
  created_at: Time(),
  expires_at: Nullable(Time()),
  active_at: Nullable(Time()),
  running: Nullable(Count()),
  waiting_threads: Nullable(Count()),
}, { $id: 'Revision', description: 'The revision.' })

const missing = Type.Array(Text(), { description: 'SHA-256 of the chunks that are missing.' })
const BegunRevision = Type.Object({ revision: Type.Object(Revision.properties), missing,
  expires_at: Nullable(Time()) }, { $id: 'BegunRevision', description: 'What is to be uploaded.' })
const Checked = Type.Object({ revision: Type.Object(Revision.properties), report: JsonObject() }, {
  $id: 'CheckedRevision',
  description: 'The revision, and how it differs from the active one.',
})

const Activated = Type.Object({
  active: Nullable(Text()),
  previous: Nullable(Text()),
  next,
  pointer_ms: Nullable(Type.Number({ description: 'Until the last member confirmed.' })),
  members,
  unconfirmed: Type.Array(Text()),
  still_running: Type.Array(Type.Object({ revision: Text(), runs: Count() })),
  rollout_id: Text(),
}, { $id: 'Activated', description: 'What is active now, and who confirmed it.' })

const rollout = Nullable(Type.Object(Rollout.properties))
const secret = { name: Text(), version: Count(), updated_at: Time() }

/** All answers of the control API. */
export const controlAnswers = [Rollout, RolloutOutcome, Deployment, Revision, BegunRevision,
  Checked, Activated,
  named('deployments', 'Deployments', Type.Array(Type.Object(Deployment.properties)),
    'Deployments by name.'),
  named('revisions', 'Revisions', Type.Array(Type.Object(Revision.properties)),
    'Revisions, the newest first.'),
  named('missing', 'MissingChunks', missing, 'What is to be uploaded.'),
  named('removing', 'Removing', Type.Boolean(), 'True: it goes with all of its data.'),
  named('rollout', 'RolloutOfChange', rollout, 'The roll-out that the change began, or null.'),
  Type.Object({ secrets: Type.Array(Type.Object(secret)), env_version: Count() }, {
    $id: 'Secrets',
    description: 'Names of secrets, never their values.',
  }), Type.Object({ ...secret, rollout }, { $id: 'Secret', description: 'The secret, without its ' +
    'value.' })]

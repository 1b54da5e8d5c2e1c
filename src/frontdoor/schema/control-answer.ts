/**
 * Schemas of the answers of the control API. They document, and type what the server sends and what
 * its own clients read: the command line and the web page. No answer is checked by them.
 */

import { Type } from 'typebox'
import type { Static, TSchema } from 'typebox'

import { Nullable, OneOf } from './json.ts'

const Time = () => Type.String({ format: 'date-time' })
const Text = () => Type.String()
const Count = () => Type.Integer()
const named = <Name extends string, Rows extends TSchema>(name: Name, id: string, rows: Rows,
  description: string) => Type.Object({ [name]: rows }, { $id: id, description })

const Member = Type.Object({
  id: Text(),
  state: OneOf(['waiting', 'ready', 'confirmed', 'silent']),
  ms: Nullable(Type.Number({
    description: 'Milliseconds that loading took, or that passed until it confirmed.',
  })),
})
const Failure = Type.Object({ graph_id: Text(), message: Text(),
  at: Nullable(Type.String({ description: 'The place in the project.' })) })
const members = Type.Array(Member)
const failures = Type.Array(Failure)
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
  result: OneOf(['done', 'refused', 'failed', 'rolled_back']),
  reason: Nullable(Type.String({ description: 'A sentence if it is not `done`.' })), failures,
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
  kept_secrets: Type.Array(Text(), {
    description: 'Names of secrets that the next roll-out sets or removes.',
  }),
  problems: Type.Array(
    Type.Object({ member: Text(), revision: Text(), reason: Text(), since: Time(),
      serves_some: Type.Boolean({ description: 'True if other graphs of it can be executed.' }) }),
    { description: 'Revisions that take new runs, and that a member has tried to load in vain.' },
  ),
  preview: Nullable(Type.Object({ of: Text(), label: Text(), ttl_s: Type.Number() })),
  created_at: Time(),
  updated_at: Time(),
}, { $id: 'Deployment', description: 'The deployment.' })

const counted = () => Nullable(Type.Integer({ description: 'Null if they were not counted.' }))

const Revision = Type.Object({
  name: Text(),
  state: OneOf(['uploading', 'building', 'ready', 'refused', 'removed']),
  hash: Text(),
  message: Text(),
  by: Text(),
  bytes: Count(),
  files: Count(),
  platform: Nullable(Text()),
  source: Nullable(
    Type.Object({ commit: Nullable(Text()), branch: Nullable(Text()), dirty: Type.Boolean() }),
  ),
  wants_env: Type.Array(Text()),
  graphs: Type.Array(Type.Object({ graph_id: Text(), nodes: Type.Array(Text()) })),
  reason: Nullable(Text()),
  failures,
  created_at: Time(),
  expires_at: Nullable(Time()),
  active_at: Nullable(Time()),
  running: counted(),
  waiting_threads: counted(),
}, { $id: 'Revision', description: 'The revision.' })

const missing = Type.Array(Text(), { description: 'SHA-256 of the chunks that are missing.' })
const BegunRevision = Type.Object({ revision: Type.Object(Revision.properties), missing,
  expires_at: Nullable(Time()) }, { $id: 'BegunRevision', description: 'What is to be uploaded.' })
const graphId = { graph_id: Text() }
const Report = Type.Object({
  graphs_added: Type.Array(Text()),
  graphs_removed: Type.Array(Text()),
  nodes_removed: Type.Array(
    Type.Object({ ...graphId, node: Text(), waiting_threads: counted() }),
  ),
  nodes_added: Type.Array(Type.Object({ ...graphId, node: Text() })),
  channels_removed: Type.Array(Type.Object({ ...graphId, channel: Text() })),
  wants_env_missing: Type.Array(Text(), {
    description: 'Variables that the project names and the deployment has no secret for.',
  }),
})
const Checked = Type.Object({ revision: Type.Object(Revision.properties), report: Report }, {
  $id: 'CheckedRevision',
  description: 'The revision, and how it differs from the active one.',
})

const Activated = Type.Object({
  active: Nullable(Text()),
  previous: Nullable(Text()),
  next,
  env_version: Count(),
  kept_secrets: Type.Array(Text(), {
    description: 'Names of secrets that the next roll-out but a rollback sets or removes.',
  }),
  pointer_ms: Type.Number({ description: 'Until the last member confirmed.' }),
  members,
  unconfirmed: Type.Array(Text()),
  still_running: Type.Array(Type.Object({ revision: Text(), runs: Count() })),
  rollout_id: Text(),
}, { $id: 'Activated', description: 'What is active now, and who confirmed it.' })

const rollout = Nullable(Type.Object(Rollout.properties))
const Secret = Type.Object({ name: Text(), version: Count(), updated_at: Time(),
  state: OneOf(['in_use', 'kept', 'removed'], {
    description:
      'Whether the code has it, or the next roll-out brings this value or takes it away.',
  }) })

/** All answers of the control API. */
export const controlAnswers = [Rollout, RolloutOutcome, Deployment, Revision, BegunRevision,
  Checked, Activated,
  named('deployments', 'Deployments', Type.Array(Type.Object(Deployment.properties)),
    'Deployments by name.'),
  named('revisions', 'Revisions', Type.Array(Type.Object(Revision.properties)),
    'Revisions, the newest first.'),
  named('missing', 'MissingChunks', missing, 'What is to be uploaded.'),
  named('removing', 'Removing', Type.Boolean(), 'True: it goes with all of its data.'),
  named('rollout', 'RolloutOfChange', rollout, 'The roll-out that has loaded the change, or null.'),
  Type.Object({ secrets: Type.Array(Secret), env_version: Count() }, {
    $id: 'Secrets',
    description: 'Names of secrets, never their values.',
  }), Type.Object({ ...Secret.properties, rollout }, {
    $id: 'Secret',
    description: 'The secret, without its value.',
  })]

type Shown<Value> = Value extends readonly (infer Each)[] ? readonly Shown<Each>[]
  : Value extends object ? { readonly [Name in keyof Value]: Shown<Value[Name]> }
  : Value

/** How far a member is with a roll-out. */
export type ControlMember = Shown<Static<typeof Member>>

/** A graph that cannot be loaded. */
export type ControlFailure = Shown<Static<typeof Failure>>

/** A roll-out that is under way. */
export type ControlRollout = Shown<Static<typeof Rollout>>

/** A roll-out that has ended. */
export type ControlOutcome = Shown<Static<typeof RolloutOutcome>>

/** A deployment. */
export type ControlDeployment = Shown<Static<typeof Deployment>>

/** A revision. */
export type ControlRevision = Shown<Static<typeof Revision>>

/** A revision with the chunks that must still be uploaded. */
export type ControlUpload = Shown<Static<typeof BegunRevision>>

/** How a revision differs from the active one. */
export type ControlReport = Shown<Static<typeof Report>>

/** A pointer that has moved. */
export type ControlMove = Shown<Static<typeof Activated>>

/** A secret, never with its value. */
export type ControlSecret = Shown<Static<typeof Secret>>

/** A line that the code of a deployment wrote. */
export interface ControlLine {
  readonly at: string
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly member: string
  readonly revision: string
  readonly text: string
  readonly thread_id: string | null
  readonly run_id: string | null
}

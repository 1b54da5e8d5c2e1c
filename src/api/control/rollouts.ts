/** Roll-outs: a revision is checked, made active, and left again for an earlier one. */

import { Type } from 'typebox'

import { DeploymentPath, Message, RevisionName, RevisionPath, Whole } from './control-parts.ts'
import { Nullable, OneOf, Text, Time } from '../json.ts'
import { operation } from '../operation.ts'
import type { Value } from '../operation.ts'
import { Counted, GraphFailure, Revision } from './revisions.ts'

const Member = Type.Object({
  id: Text(),
  state: OneOf(['waiting', 'ready', 'confirmed', 'silent']),
  ms: Nullable(Type.Number({
    description: 'Milliseconds that loading took, or that passed until it confirmed.',
  })),
})

const fields = {
  id: Text(),
  kind: OneOf(['check', 'activate', 'rollback', 'secrets']),
  revision: Text(),
  from: Nullable(Text()),
  percent: Type.Integer(),
  members: Type.Array(Member),
  by: Text(),
  started_at: Time(),
}

/** Schema of a roll-out that is under way. */
export const Rollout = Type.Object({
  ...fields,
  phase: OneOf(['preparing', 'confirming', 'watching']),
  watch_s: Type.Number(),
  message: Text(),
}, { $id: 'Rollout', description: 'A roll-out that is under way.' })

/** Schema of a roll-out that has ended. */
export const RolloutOutcome = Type.Object({
  ...fields,
  result: OneOf(['done', 'refused', 'failed', 'rolled_back']),
  reason: Nullable(Type.String({ description: 'A sentence if it is not `done`.' })),
  failures: Type.Array(GraphFailure),
  ended_at: Time(),
}, { $id: 'RolloutOutcome', description: 'A roll-out that has ended.' })

/** Schema of a roll-out, or of none. */
export const EitherRollout = Type.Union([Rollout, RolloutOutcome, Type.Null()])

/** Schema of the roll-out that a change has begun. */
export const RolloutOfChange = Type.Object({ rollout: EitherRollout }, { $id: 'RolloutOfChange',
  description: 'The roll-out that has loaded the change, or null.' })

/** Schema of the revision that takes a share of new runs, or of none. */
export const Next = Nullable(Type.Object({ revision: Text(), percent: Type.Integer() }))

const graphId = { graph_id: Text() }
const Report = Type.Object({
  graphs_added: Type.Array(Text()),
  graphs_removed: Type.Array(Text()),
  nodes_removed: Type.Array(Type.Object({ ...graphId, node: Text(), waiting_threads: Counted() })),
  nodes_added: Type.Array(Type.Object({ ...graphId, node: Text() })),
  channels_removed: Type.Array(Type.Object({ ...graphId, channel: Text() })),
  wants_env_missing: Type.Array(Text(), {
    description: 'Variables that the project names and the deployment has no secret for.',
  }),
})

const Activated = Type.Object({
  active: Nullable(Text()),
  previous: Nullable(Text()),
  next: Next,
  env_version: Type.Integer(),
  kept_secrets: Type.Array(Text(), {
    description: 'Names of secrets that the next roll-out but a rollback sets or removes.',
  }),
  pointer_ms: Type.Number({ description: 'Until the last member confirmed.' }),
  members: Type.Array(Member),
  unconfirmed: Type.Array(Text()),
  still_running: Type.Array(Type.Object({ revision: Text(), runs: Type.Integer() })),
  rollout_id: Text(),
}, { $id: 'Activated', description: 'What is active now, and who confirmed it.' })

const now = Type.Optional(
  Type.Boolean({ default: false, description: 'Runs under way stop at their next superstep and ' +
    'go on with the revision, if it has the nodes that they would run.' }),
)

export const checkRevision = operation('POST',
  '/control/v1/deployments/:deployment/revisions/:revision/check', {
  access: 'deploy',
  summary: 'Load a revision on one member, and compare it with the active one',
  params: RevisionPath,
  answer: Type.Object({ revision: Revision, report: Report }, { $id: 'CheckedRevision',
    description: 'The revision, and how it differs from the active one.' }),
})

export const activateRevision = operation('POST',
  '/control/v1/deployments/:deployment/revisions/:revision/activate', {
  access: 'deploy',
  summary: 'Make a revision active, or give it a share of new runs; `Prefer: respond-async` ' +
    'does not wait',
  params: RevisionPath,
  body: Type.Object({
    percent: Type.Optional(
      Whole(1, 100, { default: 100, description: 'The share of new runs.' }),
    ),
    now,
    expect: Type.Optional(
      RevisionName({ description: 'The revision that must be active before.' }),
    ),
    watch_s: Type.Optional(Whole(0, 3_600, { description: 'How long ended runs are watched.' })),
    prepare_s: Type.Optional(Whole(5, 1_800, { description: 'How long loading may take.' })),
    message: Message(),
  }, { examples: [{ percent: 100, now: false }] }),
  answer: Activated,
  also: { 202: RolloutOfChange },
})

export const rollBack = operation('POST', '/control/v1/deployments/:deployment/rollback', {
  access: 'deploy',
  summary: 'Make an earlier revision active again',
  params: DeploymentPath,
  body: Type.Object({
    to: Type.Optional(RevisionName({ description: 'The one that was active before by default.' })),
    now,
    message: Message(),
  }, { examples: [{}] }),
  answer: Activated,
  also: { 202: RolloutOfChange },
})

/** Progress of a member with a roll-out. */
export type ControlMember = Value<typeof Member>
/** A roll-out that is under way. */
export type ControlRollout = Value<typeof Rollout>
/** A roll-out that has ended. */
export type ControlOutcome = Value<typeof RolloutOutcome>
/** Differences of a revision from the active one. */
export type ControlReport = Value<typeof Report>
/** A pointer that has moved. */
export type ControlMove = Value<typeof Activated>

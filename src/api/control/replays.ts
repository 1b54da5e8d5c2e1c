/** Replays: recorded runs are executed on a revision, and what differs is said. */

import { Type } from 'typebox'

import { DeploymentName, DeploymentPath, RevisionName, Whole } from './control-parts.ts'
import { Nullable, OneOf, Text, Time, Uuid } from '../json.ts'
import { operation } from '../operation.ts'
import type { Value } from '../operation.ts'

const verdict = () =>
  OneOf(['same', 'same_result', 'diverged', 'fixed', 'failed', 'unstable', 'not_replayable'], {
    description: '`same`: the same calls and states. `same_result`: the same state at the end. ' +
      '`unstable`: the recorded revision itself comes out otherwise.',
  })

const Replay = Type.Object({
  id: Uuid(),
  deployment: Text(),
  revision: Text(),
  by: Text(),
  phase: OneOf(['running', 'done', 'failed', 'cancelled']),
  reason: Nullable(Type.String({ description: 'A sentence if it is `failed`.' })),
  started_at: Time(),
  ended_at: Nullable(Time()),
  controlled: Type.Boolean({
    description: 'The recorded revision is replayed first.',
  }),
  runs: Nullable(Type.Integer({ description: 'Chosen runs; null before they are chosen.' })),
  passed: Type.Integer({ description: 'Runs that were looked at and are not recorded.' }),
  experiment: Nullable(Type.String({ description: 'Id of the experiment that keeps it.' })),
}, { $id: 'Replay', description: 'A replay of recorded runs.' })

const counted = { description: 'Runs with this verdict.' }
const Counts = Type.Object({
  same: Type.Integer(counted),
  same_result: Type.Integer(counted),
  diverged: Type.Integer(counted),
  fixed: Type.Integer(counted),
  failed: Type.Integer(counted),
  unstable: Type.Integer(counted),
  not_replayable: Type.Integer(counted),
})

const Used = (description: string) =>
  Type.Object({
    tokens: Nullable(Type.Integer()),
    cost: Nullable(
      Type.Number({ description: 'US dollars; null without the prices of all models.' }),
    ),
  }, { description })

const ReplayUsage = Type.Object({
  recorded: Used('Of all recorded calls.'),
  replayed: Used('Of the calls that were answered.'),
  is_at_least: Type.Boolean({
    description: 'A call that nothing answered ended it: what would have come is not known.',
  }),
}, { $id: 'ReplayUsage', description: 'Tokens and cost of models before and after, as the ' +
  'recorded answers say them; null where they say nothing.' })

const ReplayProgress = Type.Object({
  replay: Replay,
  done: Type.Integer({ description: 'Runs that have a verdict.' }),
  diverged_percent: Nullable(Type.Number({
    description: '`diverged` and `failed` among the runs that could be compared; null for none.',
  })),
  verdicts: Counts,
  groups: Type.Array(Type.Object({
    key: Type.String({ description: 'The `group` of its runs.' }),
    verdict: verdict(),
    step: Nullable(Type.Integer()),
    node: Nullable(Text()),
    reason: Text(),
    runs: Type.Integer(),
  }), { description: 'Equal differences, the most frequent first.' }),
  usage: ReplayUsage,
}, { $id: 'ReplayProgress', description: 'A replay with its verdicts so far.' })

const Site = Nullable(Type.Object({ step: Type.Integer(), nodes: Type.Array(Text()) }))
const ShownCall = Type.Object({ site: Site, method: Text(), url: Text(), text: Text() }, {
  $id: 'ReplayedCall',
  description: 'A call, with the part of its body that differs.',
})

const ReplayedRun = Type.Object({
  thread_id: Uuid(),
  run_id: Uuid(),
  stateless: Type.Boolean({ description: 'Its thread ended with it.' }),
  graph_id: Text(),
  recorded_revision: Text(),
  verdict: verdict(),
  reason: Nullable(Text()),
  group: Nullable(Type.String({ description: 'Key of its group of equal differences.' })),
  first_step: Nullable(Type.Integer({
    description: 'The superstep from which on it was replayed, if the recorded run had gone on ' +
      'there after its process ended.',
  })),
  step: Nullable(Type.Integer({ description: 'The superstep at which it differs.' })),
  node: Nullable(Text()),
  asked: Nullable(ShownCall),
  recorded: Nullable(ShownCall),
  moved: Type.Array(Type.Object({ from: Site, to: Site }), {
    description: 'Calls that another node made.',
  }),
  missing: Type.Array(ShownCall, { description: 'Recorded calls that were not made.' }),
  recorded_calls: Type.Integer(),
  calls: Type.Integer({ description: 'Calls that were answered.' }),
  usage: ReplayUsage,
  ms: Type.Integer(),
}, { $id: 'ReplayVerdict', description: 'The verdict on one run.' })

/** The path of a replay. */
const ReplayPath = Type.Object({ deployment: DeploymentName(), replay: Uuid() })

export const startReplay = operation('POST', '/control/v1/deployments/:deployment/replays', {
  access: 'deploy',
  summary: 'Replay recorded runs on a revision, in a process that reaches nothing',
  params: DeploymentPath,
  body: Type.Object({
    revision: RevisionName({ description: 'The revision to try.' }),
    sample: Type.Optional(Whole(1, 500, { default: 100, description: 'Runs at most.' })),
    graph_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 255, description: 'Only runs of this graph.' }),
    ),
    since_s: Type.Optional(Whole(1, 31_536_000, {
      description: 'Only runs that were created within so many seconds.',
    })),
    control: Type.Optional(
      Type.Boolean({ default: true, description: 'Replay the recorded revision first.' }),
    ),
    run_s: Type.Optional(Whole(1, 600, { default: 60, description: 'Seconds for one run.' })),
  }, { examples: [{ revision: 'r13', sample: 100 }] }),
  answer: ReplayProgress,
  status: 202,
})

export const listReplays = operation('GET', '/control/v1/deployments/:deployment/replays', {
  access: 'deploy',
  summary: 'List the last replays of a deployment, the newest first',
  params: DeploymentPath,
  answer: Type.Object({ replays: Type.Array(Replay) }, { $id: 'Replays',
    description: 'Replays of a deployment.' }),
})

export const getReplay = operation('GET', '/control/v1/deployments/:deployment/replays/:replay', {
  access: 'deploy',
  summary: 'Show how far a replay is, and what differs',
  params: ReplayPath,
  answer: ReplayProgress,
})

export const listReplayedRuns = operation('GET',
  '/control/v1/deployments/:deployment/replays/:replay/runs', {
  access: 'deploy',
  summary: 'List the verdicts on the runs of a replay',
  params: ReplayPath,
  answer: Type.Object({ runs: Type.Array(ReplayedRun) }, { $id: 'ReplayedRuns',
    description: 'The verdicts on the runs of a replay.' }),
})

export const cancelReplay = operation('POST',
  '/control/v1/deployments/:deployment/replays/:replay/cancel', {
  access: 'deploy',
  summary: 'End a replay',
  params: ReplayPath,
  answer: Replay,
})

/** Progress of a replay, as clients get it. */
export type ControlReplay = Value<typeof ReplayProgress>
/** The verdict on one run. */
export type ControlVerdict = Value<typeof ReplayedRun>

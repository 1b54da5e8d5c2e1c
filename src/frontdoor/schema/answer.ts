/** Schemas of answers. They only document the API; no reply is checked or changed by them. */

import { Type } from 'typebox'

import { errorCodes } from '../../errors.ts'
import { Json, JsonObject, Nullable, OneOf, Uuid } from './json.ts'

const Time = () => Type.String({ format: 'date-time' })

const interrupts = JsonObject({ description: 'Task id to a list of {id, value}.' })

/** Description of answers in which `select` may choose fields. */
const selected = { description: 'All fields, or those that `select` names.' }

const Thread = Type.Object({
  thread_id: Uuid(),
  created_at: Time(),
  updated_at: Time(),
  state_updated_at: Time(),
  metadata: JsonObject(),
  status: OneOf(['idle', 'busy', 'interrupted', 'error']),
  config: JsonObject(),
  values: Json({ description: 'The state; {} for an empty thread.' }),
  interrupts,
  error: Json({ description: '{error, message} of the last run, or null.' }),
  ttl: Type.Optional(Nullable(
    Type.Object({ strategy: OneOf(['delete', 'keep_latest']), ttl_minutes: Type.Number(),
      expires_at: Time() }, { description: 'When it ends, if `include` asks for it.' }),
  )),
}, { $id: 'Thread', description: 'The thread with its newest state.' })

const FoundThread = Type.Partial(
  Type.Object({ ...Thread.properties,
    extracted: JsonObject({ description: 'If the search asked to extract.' }) }),
  { $id: 'FoundThread', ...selected },
)

const PrunedThreads = Type.Object({
  pruned_count: Type.Optional(Type.Integer({ description: 'Threads that were pruned.' })),
  remaining: Type.Optional(Type.Integer({ description: 'Threads that match the filter and are ' +
    'left, without busy ones. Repeat the request as long as it prunes any.' })),
  count: Type.Optional(Type.Integer({ description: 'Threads that a dry run would prune.' })),
  dry_run: Type.Optional(Type.Literal(true)),
}, { $id: 'PrunedThreads', description: 'What became of the threads.' })

const CancelledRuns = Type.Object({
  count: Type.Integer({ description: 'Runs that would be cancelled.' }),
  dry_run: Type.Literal(true),
}, { $id: 'CancelledRuns', description: 'What a dry run found.' })

const size = { count: Type.Integer(), bytes: Type.Integer() }

const ThreadStorage = Type.Object({
  thread_id: Uuid(),
  total_bytes: Type.Integer({ description: 'Bytes of its log, with those shared with copies.' }),
  checkpoints: Type.Object(size),
  channel_values: Type.Object({ ...size,
    by_channel: JsonObject({ description: 'Channel to {count, bytes}.' }) }),
  pending_writes: Type.Object(size),
}, { $id: 'ThreadStorage', description: 'What the thread takes in the store.' })

const ThreadPlace = Type.Object({
  member: Type.String(),
  address: Type.String({ description: 'Where other members reach it.' }),
  shard: Type.Integer(),
  epoch: Type.Integer({ description: 'Grows with each change of owner.' }),
  active: Type.Boolean({ description: 'Whether the thread is in memory.' }),
}, { $id: 'ThreadPlace', description: 'Where the thread lives.' })

const Run = Type.Object({
  run_id: Uuid(),
  thread_id: Uuid(),
  assistant_id: Uuid(),
  created_at: Time(),
  updated_at: Time(),
  status: OneOf(['pending', 'running', 'success', 'error', 'interrupted', 'timeout']),
  metadata: JsonObject(),
  kwargs: JsonObject({ description: 'What the request asked for.' }),
  multitask_strategy: OneOf(['reject', 'enqueue', 'interrupt', 'rollback']),
  cancel_reason: Nullable(Type.String({ description: 'Why it was cancelled: `taken:`, ' +
    '`cancelled:`, `disconnected:`, `superseded:` or `assistant_deleted:`, and a sentence.' })),
  revision: Type.Optional(Type.String({ description: 'The revision of the deployment that ' +
    'executes it; missing before it starts, and without a deployment.' })),
}, { $id: 'Run', description: 'The run.' })

const FoundRun = Type.Partial(Run, { $id: 'FoundRun', ...selected })

const RunOfTenant = Type.Partial(
  Type.Object({ ...Run.properties, graph_id: Type.String() }),
  { $id: 'RunOfTenant', description: 'All fields but kwargs, or those that `select` names.' },
)

const RunLogs = Type.Object({
  lines: Type.Array(Type.Object({
    seq: Type.Integer({ description: 'Counts the lines of the run.' }),
    time: Time(),
    level: OneOf(['debug', 'info', 'warn', 'error']),
    text: Type.String(),
    node: Type.Optional(Type.String()),
    attempt: Type.Integer(),
  })),
  dropped: Type.Integer({ description: 'Lines that were written and are not kept any more.' }),
  truncated: Type.Boolean({ description: 'Whether more lines are kept than these.' }),
  kept: OneOf(['memory'], { description: 'Where: they are gone when the server restarts, and ' +
    'when the thread moves to another member.' }),
}, { $id: 'RunLogs', description: 'The lines, oldest first.' })

const RunResult = Type.Object({}, { $id: 'RunResult', description: 'The state values at the ' +
  'end; with `__interrupt__` if the run waits for a human, or only `__error__: ' +
  '{error, message}` if it failed.' })

const Checkpoint = () =>
  Type.Object({
    checkpoint_id: Type.String(),
    thread_id: Type.String(),
    checkpoint_ns: Type.String(),
  })

const Task = Type.Object({
  id: Type.String(),
  name: Type.String({ description: 'The node.' }),
  path: Type.Array(Json()),
  error: Nullable(Type.String({ description: '{name, message} as JSON text.' })),
  interrupts: Type.Array(
    Type.Object({ id: Type.String(), value: Json(),
      response_schema: Type.Optional(Json({ description: 'JSON Schema of the answer.' })) }),
  ),
  checkpoint: Nullable(Type.Partial(Checkpoint(), { description: 'Of its subgraph.' })),
  state: Json({ description: 'The ThreadState of its subgraph, if asked for; otherwise null.' }),
  result: Json(),
})

const CommandAnswer = Type.Object({
  type: OneOf(['success', 'error']),
  id: Type.Integer({ description: 'That of the command.' }),
  result: Type.Optional(Json({ description: 'Of a success.' })),
  error: Type.Optional(Type.String({ description: 'A code of protocol v2.' })),
  message: Type.Optional(Type.String()),
  meta: JsonObject({ description: '`applied_through_seq`: events up to it came before.' }),
}, { $id: 'CommandAnswer', description: 'The answer to the command, also if it was refused.' })

const ThreadState = Type.Object({
  values: Json(),
  next: Type.Array(Type.String(), { description: 'Nodes that run next.' }),
  tasks: Type.Array(Task),
  metadata: Nullable(JsonObject()),
  created_at: Nullable(Time()),
  checkpoint: Nullable(Checkpoint()),
  parent_checkpoint: Nullable(Checkpoint()),
  checkpoint_id: Nullable(Type.String()),
  parent_checkpoint_id: Nullable(Type.String()),
  slices: Type.Optional(JsonObject({
    description: 'Key to {from, total}, for values that are part of a list.',
  })),
  channels: Type.Optional(JsonObject({
    description: 'Channel to the bytes that the step wrote, if that is selected.',
  })),
}, { $id: 'ThreadState', description: 'The state, or what `select` names of it; without a ' +
  'checkpoint if nothing ran yet.' })

const StateUpdate = Type.Object({ checkpoint: Checkpoint(), checkpoint_id: Type.String(),
  configurable: JsonObject({ description: 'The checkpoint, as a config names it.' }) }, {
  $id: 'StateUpdate',
  description: 'The checkpoint that the update made.',
})

const CountOfThreads = Type.Union([
  Type.Integer(),
  Type.Object({ idle: Type.Integer(), busy: Type.Integer(), interrupted: Type.Integer(),
    error: Type.Integer() }),
], { $id: 'CountOfThreads', description: 'How many there are; by status if that was asked for.' })

const dependencies = Type.Optional(
  Type.Record(Type.String(), Type.Object({ ok: Type.Boolean(), ms: Type.Integer() }), {
    description: 'What the server depends on, if `check_db` is set.',
  }),
)

const failing = Type.Optional(
  Type.Object({ not_serving: Type.Integer(), names: Type.Optional(Type.Array(Type.String())) }, {
    description: 'Deployments that this server cannot load, if there are any; their names for ' +
      'callers of this machine.',
  }),
)

const Ok = Type.Object({ ok: Type.Boolean(), dependencies, deployments: failing }, { $id: 'Ok',
  description: 'It serves.' })

const flag = Type.Boolean()

const graphs = Type.Optional(
  Type.Array(
    Type.Object({ graph_id: Type.String(),
      error: Type.Optional(Type.String({ description: 'Why it cannot be loaded.' })) }),
  ),
)

const Caller = Type.Object({
  tenant: Type.String(),
  role: OneOf(['admin', 'developer', 'reader', 'deployer']),
  user: Nullable(Type.String()),
  key_id: Nullable(Type.String()),
  region: Nullable(Type.String()),
  expires_at: Nullable(Time()),
  method: OneOf(['none', 'key', 'session']),
  org_config: JsonObject({ description: 'The tenant, as clients of traces read it.' }),
  graphs,
}, { $id: 'Caller', description: 'The caller. `graphs` if the server takes credentials.' })

const Info = Type.Object({
  auth: OneOf(['none', 'keys', 'sessions', 'keys+sessions'], {
    description: 'The credentials that it takes.',
  }),
  features: Type.Object({ studio: flag, traces: flag, crons: flag, store: flag, cluster: flag,
    keys: flag, deployments: flag }),
  graphs,
  version: Type.String(),
  context: Type.Literal('js'),
  flags: JsonObject(),
  metadata: JsonObject(),
  region: Type.Optional(
    Type.Object({ name: Type.String(),
      api_url: Type.Optional(Type.String({ description: 'The URL of the region.' })),
      egress: Type.Array(Type.String(), { description: 'Addresses that its outgoing calls have.' }),
      ingress: Type.Array(Type.String(), { description: 'Addresses of its hosts.' }) }),
  ),
}, { $id: 'Info', description: 'What the server is.' })

const Failure = Type.Object({
  detail: Type.String({ description: 'A sentence for people.' }),
  message: Type.String({ description: 'The same sentence.' }),
  code: Type.String({ description: `What went wrong, for programs: ${errorCodes.join(', ')}.` }),
  errors: Type.Optional(Type.Array(
    Type.Object({ field: Type.String(), message: Type.String() }),
    { description: 'Every field that is wrong.' },
  )),
  admitted: Type.Optional(Type.Array(Type.Object({ run_id: Uuid(), thread_id: Uuid() }), {
    description: 'What was done, if only a part was.',
  })),
  url: Type.Optional(Type.String({ description: 'The URL of the region that knows the key.' })),
  dependencies,
  error: Type.Optional(Type.String({ description: '`Too Many Requests`, for a limit.' })),
  limit: Type.Optional(Type.Object(
    { row: Type.String(), count: Type.Integer(), intervalSeconds: Type.Number() },
    { description: 'The limit that was reached.' },
  )),
}, { $id: 'Error', description: 'What is wrong, and what to do about it.', examples: [{
  detail: 'assistant_id: is required.',
  message: 'assistant_id: is required.',
  code: 'invalid',
  errors: [{ field: 'assistant_id', message: 'is required' }],
}] })

/** All schemas that a route may name as its answer. */
export const answerSchemas = [Thread, FoundThread, PrunedThreads, CancelledRuns, ThreadStorage,
  ThreadPlace, Run, FoundRun, RunOfTenant, RunLogs, RunResult, CommandAnswer, ThreadState,
  StateUpdate, CountOfThreads, Ok, Info, Caller, Failure]

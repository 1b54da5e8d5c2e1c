/** Schemas of answers. They only document the API; no reply is checked or changed by them. */

import { Type } from 'typebox'

import { errorCodes } from '../../errors.ts'
import { Json, JsonObject, Nullable, OneOf, Uuid } from './json.ts'

const Time = () => Type.String({ format: 'date-time' })

const interrupts = JsonObject({ description: 'Task id to a list of {id, value}.' })

/** Description of answers in which `select` may choose fields. */
const selected = { description: 'All fields, or those that `select` names.' }

const Assistant = Type.Object({
  assistant_id: Uuid(),
  graph_id: Type.String(),
  version: Type.Integer(),
  name: Type.String(),
  description: Nullable(Type.String()),
  config: JsonObject(),
  context: Json(),
  metadata: JsonObject(),
  created_at: Time(),
  updated_at: Time(),
}, { $id: 'Assistant', description: 'The assistant in its active version.' })

const FoundAssistant = Type.Partial(Assistant, { $id: 'FoundAssistant', ...selected })

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
}, { $id: 'Thread', description: 'The thread with its newest state.' })

const FoundThread = Type.Partial(
  Type.Object({ ...Thread.properties,
    extracted: JsonObject({ description: 'If the search asked to extract.' }) }),
  { $id: 'FoundThread', ...selected },
)

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
}, { $id: 'Run', description: 'The run.' })

const FoundRun = Type.Partial(Run, { $id: 'FoundRun', ...selected })

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
}, { $id: 'ThreadState', description: 'The state, or what `select` names of it; without a ' +
  'checkpoint if nothing ran yet.' })

const StateUpdate = Type.Object({ checkpoint: Checkpoint(), checkpoint_id: Type.String(),
  configurable: JsonObject({ description: 'The checkpoint, as a config names it.' }) }, {
  $id: 'StateUpdate',
  description: 'The checkpoint that the update made.',
})

/** A node is a text, or the number that LangGraph gives to a node without a name. */
const NodeId = () => Type.Union([Type.String(), Type.Integer()])

const Graph = Type.Object({
  nodes: Type.Array(Type.Object({ id: NodeId(), type: Type.String(), data: Json() })),
  edges: Type.Array(
    Type.Object({ source: NodeId(), target: NodeId(), conditional: Type.Optional(Type.Boolean()) }),
  ),
}, { $id: 'Graph', description: 'The graph; nodes of subgraphs are named `subgraph:node`.' })

const schemas = {
  input_schema: Json(),
  output_schema: Json(),
  state_schema: Json(),
  config_schema: Json(),
  context_schema: Json(),
}

const GraphSchemas = Type.Object({ graph_id: Type.String(), ...schemas }, { $id: 'GraphSchemas',
  description: 'JSON Schemas; null if the graph has none.' })

const SubgraphSchemas = Type.Object({}, { $id: 'SubgraphSchemas',
  description: 'Namespace to schemas.', additionalProperties: Type.Object(schemas) })

const Count = Type.Integer({ $id: 'Count', description: 'How many there are.' })

const dependencies = Type.Optional(
  Type.Record(Type.String(), Type.Object({ ok: Type.Boolean(), ms: Type.Integer() }), {
    description: 'What the server depends on, if `check_db` is set.',
  }),
)

const Ok = Type.Object({ ok: Type.Boolean(), dependencies }, { $id: 'Ok',
  description: 'It serves.' })

const Info = Type.Object({ version: Type.String(), context: Type.Literal('js'), flags: JsonObject(),
  metadata: JsonObject(), region: Type.Optional(
    Type.Object({ name: Type.String(),
      api_url: Type.Optional(Type.String({ description: 'The URL of the region.' })),
      egress: Type.Array(Type.String(), { description: 'Addresses that its outgoing calls have.' }),
      ingress: Type.Array(Type.String(), { description: 'Addresses of its hosts.' }) }),
  ) }, { $id: 'Info', description: 'What the server is.' })

const Failure = Type.Object({
  detail: Type.String({ description: 'A sentence for people.' }),
  message: Type.String({ description: 'The same sentence.' }),
  code: Type.String({ description: `What went wrong, for programs: ${errorCodes.join(', ')}.` }),
  errors: Type.Optional(Type.Array(
    Type.Object({ field: Type.String(), message: Type.String() }),
    { description: 'Every field that is wrong.' },
  )),
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
export const answerSchemas = [Assistant, FoundAssistant, Thread, FoundThread, Run, FoundRun,
  RunResult, CommandAnswer, ThreadState, StateUpdate, Graph, GraphSchemas, SubgraphSchemas, Count,
  Ok, Info, Failure]

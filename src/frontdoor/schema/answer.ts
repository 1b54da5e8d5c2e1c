/** What answers look like: described for readers of the API, never used to change a reply. */

import { Type } from 'typebox'

import { Json, JsonObject, Nullable, OneOf, Uuid } from './json.ts'

const Time = () => Type.String({ format: 'date-time' })

const interrupts = JsonObject({ description: 'Task id to a list of {id, value}.' })

const Assistant = Type.Object({
  assistant_id: Uuid(), graph_id: Type.String(), version: Type.Integer(), name: Type.String(),
  description: Nullable(Type.String()), config: JsonObject(), context: Json(),
  metadata: JsonObject(), created_at: Time(), updated_at: Time(),
}, { $id: 'Assistant' })

const Thread = Type.Object({
  thread_id: Uuid(), created_at: Time(), updated_at: Time(), state_updated_at: Time(),
  metadata: JsonObject(), status: OneOf(['idle', 'busy', 'interrupted', 'error']),
  config: JsonObject(), values: Json({ description: 'The state; {} for an empty thread.' }),
  interrupts, error: Json({ description: '{error, message} of the last run, or null.' }),
  extracted: Type.Optional(JsonObject({ description: 'Of a search that asked to extract.' })),
}, { $id: 'Thread' })

const Run = Type.Object({
  run_id: Uuid(), thread_id: Uuid(), assistant_id: Uuid(), created_at: Time(), updated_at: Time(),
  status: OneOf(['pending', 'running', 'success', 'error', 'interrupted', 'timeout']),
  metadata: JsonObject(), kwargs: JsonObject(), multitask_strategy: Type.String(),
}, { $id: 'Run' })

const RunResult = Type.Object({}, { $id: 'RunResult', description: 'The state values at the ' +
  'end; with `__interrupt__` where the run waits for a human, or only `__error__: ' +
  '{error, message}` where it failed.' })

const Checkpoint = () => Type.Object({
  checkpoint_id: Type.String(), thread_id: Type.String(), checkpoint_ns: Type.String(),
})

const ThreadState = Type.Object({
  values: Json(), next: Type.Array(Type.String()), tasks: Type.Array(JsonObject()),
  metadata: Nullable(JsonObject()), created_at: Nullable(Type.String()),
  checkpoint: Nullable(Checkpoint()), parent_checkpoint: Nullable(Checkpoint()),
  checkpoint_id: Nullable(Type.String()), parent_checkpoint_id: Nullable(Type.String()),
}, { $id: 'ThreadState' })

const StateUpdate = Type.Object({ checkpoint: Checkpoint(), checkpoint_id: Type.String() },
  { $id: 'StateUpdate' })

const Graph = Type.Object({ nodes: Type.Array(JsonObject()), edges: Type.Array(JsonObject()) },
  { $id: 'Graph' })

const schemas = {
  input_schema: Json(), output_schema: Json(), state_schema: Json(), config_schema: Json(),
  context_schema: Json(),
}

const GraphSchemas = Type.Object({ graph_id: Type.String(), ...schemas }, { $id: 'GraphSchemas' })

const SubgraphSchemas = Type.Object({}, { $id: 'SubgraphSchemas',
  description: 'Namespace to schemas.', additionalProperties: Type.Object(schemas) })

const Count = Type.Integer({ $id: 'Count' })

const Ok = Type.Object({ ok: Type.Boolean() }, { $id: 'Ok' })

const Info = Type.Object({ version: Type.String(), context: Type.Literal('js'),
  flags: JsonObject(), metadata: JsonObject(),
  region: Type.Optional(Type.Object({ name: Type.String(),
    api_url: Type.Optional(Type.String({ description: 'Where the region answers.' })),
    egress: Type.Array(Type.String(), { description: 'Where its calls to others come from.' }),
    ingress: Type.Array(Type.String(), { description: 'Where its hosts are reached.' }) })),
}, { $id: 'Info' })

const Failure = Type.Object({
  detail: Type.String(), message: Type.String(), code: Type.String(),
  errors: Type.Optional(Type.Array(
    Type.Object({ field: Type.String(), message: Type.String() }))),
}, { $id: 'Error' })

/** Every schema that a route may name as its answer. */
export const answerSchemas = [Assistant, Thread, Run, RunResult, ThreadState, StateUpdate, Graph,
  GraphSchemas, SubgraphSchemas, Count, Ok, Info, Failure]

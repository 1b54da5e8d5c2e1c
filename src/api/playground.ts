/** Questions to models: of people, about examples of a dataset, for a filter or for examples. */

import { Type } from 'typebox'

import { Json, JsonObject, Maybe, Nullable, OneOf, Text, Uuid } from './json.ts'
import { operation } from './operation.ts'
import type { Value } from './operation.ts'

/** The own secrets of a call, by name. */
const Secrets = Maybe(Type.Record(Type.String(), Text(8 * 1024)))

/** A stored prompt: of the caller, and its newest commit, unless it says otherwise. */
export const PromptRef = Type.Object({
  owner: Type.Optional(Text(200)),
  name: Type.String({ minLength: 1, maxLength: 300 }),
  ref: Type.Optional(Text(300)),
})

/** The model that is asked, as it is serialised: by default the one of the workspace. */
const asked = { model: Type.Optional(Json()), secrets: Secrets }
const prompted = { manifest: Maybe(JsonObject()), prompt: Maybe(PromptRef), ...asked }

const Message = Type.Object({ role: OneOf(['system', 'user', 'assistant', 'tool']),
  content: Text() })

const Tool = Type.Object({
  name: Type.String({ pattern: '^[A-Za-z0-9_-]{1,64}$' }),
  description: Type.Optional(Text(4_000)),
  parameters: JsonObject({ 'x-max-characters': 32 * 1024 }),
})

const Question = Type.Object({
  ...prompted,
  messages: Maybe(Type.Array(Message, { maxItems: 1_000 })),
  variables: Maybe(JsonObject()),
  schema: Maybe(JsonObject()),
  // They are shown, and not called.
  tools: Maybe(Type.Array(Tool, { maxItems: 64 })),
  // Data URLs, for the last message of the user: 3 MB together.
  images: Maybe(Type.Array(Text(), { maxItems: 16 })),
})

const Experiment = Type.Object({
  ...prompted,
  // Of the client; nothing in them matters here.
  options: Type.Optional(Json()),
  project_name: Type.String({ minLength: 1, maxLength: 1_000 }),
  dataset_id: Uuid(),
  dataset_splits: Maybe(Type.Array(Text(255), { maxItems: 100 })),
  evaluator_rules: Maybe(Type.Array(Uuid(), { maxItems: 100 })),
})

export const askModel = operation('POST', '/api/v1/playground/stream', {
  access: 'change',
  summary: 'Ask a model, and stream its answer',
  body: Question,
  events: '`start` has the id of the run, each `text` a part of the answer, `end` all of it with ' +
    'its usage. `error` says why there is none.',
})

export const streamExperiment = operation('POST', '/api/v1/datasets/playground_experiment/stream', {
  access: 'change',
  summary: 'Ask a prompt about each example of a dataset, and stream the answers',
  body: Experiment,
  events:
    '`start` names the project of the experiment, each `run` has an answer or an error, and ' +
    '`end` counts them.',
})

export const runExperiment = operation('POST', '/api/v1/datasets/playground_experiment/batch', {
  access: 'change',
  summary: 'Ask a prompt about each example of a dataset',
  body: Experiment,
  answer: Type.Object({ session_id: Uuid(), project_name: Text(), runs: Type.Integer(),
    errors: Type.Integer() }),
})

export const proposeFilter = operation('POST', '/api/v1/runs/generate-query', {
  access: 'change',
  summary: 'Let a model write the filter that a sentence describes',
  body: Type.Object({
    query: Type.String({ minLength: 1, maxLength: 4_000 }),
    feedback_keys: Maybe(Type.Array(Text(180), { maxItems: 100 })),
    ...asked,
  }),
  answer: Type.Object({ filter: Text(), feedback_urls: JsonObject() }),
})

export const proposeExamples = operation('POST', '/api/v1/datasets/:id/generate', {
  access: 'change',
  summary: 'Let a model make up examples like those of a dataset; none is kept',
  params: Type.Object({ id: Uuid() }),
  body: Type.Object({
    num_examples: Type.Integer({ minimum: 1, maximum: 50 }),
    // Shown to the model.
    example_ids: Maybe(Type.Array(Uuid(), { maxItems: 20 })),
    instructions: Maybe(Text(8_000)),
    ...asked,
  }),
  answer: Type.Object({
    examples: Type.Array(Type.Object({ inputs: JsonObject(), outputs: Nullable(JsonObject()) })),
  }),
})

/** A question as callers send it. Null means the same as nothing. */
export type ModelQuestion = Value<typeof Question>
/** An experiment as callers ask for it. */
export type ExperimentBody = Value<typeof Experiment>

/**
 * Experiments that go on after the answer: an assistant or a prompt is asked about each example of
 * a dataset, and evaluators judge the answers. The paths are our own.
 */

import { Type } from 'typebox'

import { JsonObject, Limit, Maybe, Nullable, Offset, OneOf, Text, Time, Uuid } from '../json.ts'
import { operation } from '../operation.ts'
import type { Value } from '../operation.ts'
import { PromptRef } from '../playground.ts'
import { Judge } from '../rules/rules.ts'

const members = {
  dataset_id: Uuid(),
  dataset_splits: Maybe(Type.Array(Text(255), { maxItems: 100 })),
  // An id, or the name of a graph.
  assistant_id: Maybe(Type.String({ minLength: 1, maxLength: 200 })),
  // The member of the inputs that is sent as the message of a user. By default, all are the input.
  input_text: Maybe(Text(200)),
  // The member of the outputs that has the text of the last message. By default, it is the state.
  output_text: Maybe(Text(200)),
  prompt: Maybe(PromptRef),
  manifest: Maybe(JsonObject({ 'x-max-characters': 64 * 1024 })),
  // As it is serialised: by default the one of the prompt, or of the workspace.
  model: Maybe(JsonObject({ 'x-max-characters': 32 * 1024 })),
  evaluators: Maybe(Type.Array(Judge, { maxItems: 5 })),
  evaluator_ids: Maybe(Type.Array(Uuid(), { maxItems: 5 })),
  repetitions: Type.Optional(Type.Integer({ minimum: 1, maximum: 20, default: 1 })),
  // Runs in progress at a time.
  max_concurrency: Type.Optional(Type.Integer({ minimum: 1, maximum: 8, default: 4 })),
}

const Body = Type.Object({
  ...members,
  project_name: Maybe(Type.String({ minLength: 1, maxLength: 1_000 })),
  description: Maybe(Text(2_000)),
})

const Experiment = Type.Object({
  ...members,
  id: Uuid(),
  // Its project, which has the runs.
  session_id: Uuid(),
  project_name: Text(),
  dataset_version: Text(),
  status: OneOf(['Created', 'Running', 'Completed', 'Cancelled', 'Failed']),
  total_runs: Type.Integer(),
  finished_runs: Type.Integer(),
  failed_runs: Type.Integer(),
  // Scores and values that evaluators gave, and their questions without any.
  verdicts: Type.Integer(),
  failed_verdicts: Type.Integer(),
  // Its last failure.
  error: Nullable(Text()),
  // It goes on then: a limit is reached.
  waits_until: Nullable(Time()),
  created_at: Time(),
  updated_at: Time(),
  finished_at: Nullable(Time()),
}, { $id: 'Experiment', description: 'An experiment: what was asked, and how far it is.' })

export const createExperiment = operation('POST', '/api/v1/experiments', {
  access: 'change',
  summary: 'Begin an experiment, which goes on after the answer',
  body: Body,
  answer: Experiment,
  status: 202,
})

export const listExperiments = operation('GET', '/api/v1/experiments', {
  access: 'read',
  summary: 'List experiments that this server carries out, the newest first',
  query: Type.Object({ dataset: Type.Optional(Uuid()), limit: Type.Optional(Limit()),
    offset: Type.Optional(Offset()) }),
  answer: Type.Array(Experiment),
})

export const getExperiment = operation('GET', '/api/v1/experiments/:id', {
  access: 'read',
  summary: 'Get an experiment',
  answer: Experiment,
})

export const cancelExperiment = operation('PATCH', '/api/v1/experiments/:id', {
  access: 'change',
  summary: 'Cancel an experiment: its runs stay',
  body: Type.Object({ status: OneOf(['Cancelled']) }),
  answer: Experiment,
})

/** An experiment as a client asks for it. */
export type NewExperiment = Value<typeof Body>
/** An experiment as a client reads it. */
export type Experiment = Value<typeof Experiment>

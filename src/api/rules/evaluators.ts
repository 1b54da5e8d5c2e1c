/** Kept evaluators: judges with a name, which rules refer to. */

import { Type } from 'typebox'

import { Json, Maybe, Nullable, OneOf, Text, Time, Uuid } from '../json.ts'
import { operation } from '../operation.ts'
import type { Value } from '../operation.ts'
import { VariableMapping } from './rules.ts'

const Judge = Type.Object({
  prompt_repo_handle: Maybe(Text(300)),
  commit_hash_or_tag: Maybe(Text(100)),
  variable_mapping: Maybe(VariableMapping),
})

const Body = Type.Object({
  name: Maybe(Text(200)),
  type: Maybe(Text()),
  llm_evaluator: Maybe(Judge),
  code_evaluator: Maybe(Json()),
})

const Evaluator = Type.Object({
  id: Uuid(),
  name: Text(),
  type: OneOf(['llm']),
  tenant_id: Uuid(),
  created_at: Time(),
  updated_at: Time(),
  is_managed: Type.Boolean(),
  llm_evaluator: Type.Object({ ...Judge.properties, evaluator_id: Uuid() }),
  run_rules: Type.Array(
    Type.Object({ id: Uuid(), session_id: Nullable(Uuid()), dataset_id: Nullable(Uuid()) }),
  ),
}, { $id: 'Evaluator', description: 'A kept evaluator, with the rules that name it.' })

export const listEvaluators = operation('GET', '/api/v1/platform/evaluators', {
  access: 'read',
  summary: 'List evaluators, the oldest first',
  query: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
    offset: Type.Optional(Type.Integer({ minimum: 0 })),
    name: Type.Optional(Text()),
  }),
  answer: Type.Object({ evaluators: Type.Array(Evaluator), total: Type.Integer() }),
})

export const createEvaluator = operation('POST', '/api/v1/platform/evaluators', {
  access: 'change',
  summary: 'Create an evaluator',
  body: Body,
  answer: Type.Object({ evaluator: Evaluator }),
  status: 201,
})

export const getEvaluator = operation('GET', '/api/v1/platform/evaluators/:id', {
  access: 'read',
  summary: 'Get an evaluator',
  answer: Evaluator,
})

export const patchEvaluator = operation('PATCH', '/api/v1/platform/evaluators/:id', {
  access: 'change',
  summary: 'Change an evaluator: a member that is missing stays',
  body: Body,
  answer: Type.Object({ evaluator: Evaluator }),
})

export const deleteEvaluator = operation('DELETE', '/api/v1/platform/evaluators/:id', {
  access: 'change',
  summary: 'Delete an evaluator',
})

export const deleteEvaluators = operation('DELETE', '/api/v1/platform/evaluators', {
  access: 'change',
  summary: 'Delete evaluators',
  query: Type.Object({
    evaluator_ids: Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 100 })]),
  }),
  answer: Type.Object({
    succeeded: Type.Array(Text()),
    failed: Type.Array(Type.Object({ id: Text(), error: Text() })),
  }),
})

/** A prompt of the hub as a judge. */
export type LlmEvaluator = Value<typeof Judge>
/** An evaluator as a client writes it. */
export type EvaluatorBody = Value<typeof Body>
/** An evaluator as a client reads it. */
export type Evaluator = Value<typeof Evaluator>

/** Bodies of requests about rules. */

import { Type } from 'typebox'

import { alertMetrics } from '../../../platform/index.ts'
import { Json, JsonObject, Nullable, OneOf, Uuid } from '../../schema/json.ts'

const optional = <Schema extends Parameters<typeof Nullable>[0]>(schema: Schema) =>
  Type.Optional(Nullable(schema))
const text = (maxLength: number) => optional(Type.String({ maxLength }))

const Headers = optional(
  Type.Record(Type.String({ pattern: '^[A-Za-z0-9-]{1,100}$' }), Type.String({ maxLength: 4_096 }),
    { maxProperties: 20 }),
)
const Url = Type.String({ maxLength: 2_048 })

/** A judge of a rule. */
const EvaluatorOfRule = Type.Object({
  structured: optional(Type.Object({
    hub_ref: text(300),
    prompt: optional(Json()),
    template_format: optional(OneOf(['f-string', 'mustache'])),
    schema: optional(JsonObject({ 'x-max-characters': 32 * 1024 })),
    variable_mapping: optional(
      Type.Record(Type.String({ maxLength: 200 }), Type.String({ maxLength: 500 }), {
        maxProperties: 50,
      }),
    ),
    model: optional(JsonObject({ 'x-max-characters': 32 * 1024 })),
  })),
  graph_id: text(200),
})

const Alert = Type.Object({
  metric: OneOf([...alertMetrics]),
  threshold: Type.Number(),
  window_minutes: Type.Integer({ minimum: 1, maximum: 24 * 60 }),
  comparison: optional(OneOf(['above', 'below'])),
  feedback_key: text(180),
  url: Url,
  headers: Headers,
})

/** What a client says of a rule. */
export const RuleFields = Type.Object({
  display_name: text(200),
  session_id: optional(Uuid()),
  dataset_id: optional(Uuid()),
  is_enabled: optional(Type.Boolean()),
  sampling_rate: optional(Type.Number({ minimum: 0, maximum: 1 })),
  filter: text(8_192),
  trace_filter: text(8_192),
  tree_filter: text(8_192),
  add_to_annotation_queue_id: optional(Uuid()),
  add_to_dataset_id: optional(Uuid()),
  webhooks: optional(Type.Array(Type.Object({ url: Url, headers: Headers }), { maxItems: 5 })),
  evaluators: optional(Type.Array(EvaluatorOfRule, { maxItems: 5 })),
  evaluator_id: optional(Uuid()),
  code_evaluators: optional(Type.Array(Json(), { maxItems: 5 })),
  alerts: optional(Type.Array(Alert, { maxItems: 10 })),
  spend_limit: optional(Type.Object({
    calls_per_day: optional(Type.Integer({ minimum: 0 })),
    tokens_per_day: optional(Type.Integer({ minimum: 0 })),
  })),
  backfill_from: text(100),
})

/** Which time to go over. */
export const TriggerBody = Type.Object({ start_time: Type.Optional(Json()),
  end_time: Type.Optional(Json()) })

/** Which rules to trigger. */
export const TriggerSome = Type.Object({
  rule_ids: optional(Type.Array(Uuid(), { maxItems: 100 })),
  dataset_id: optional(Uuid()),
  ...TriggerBody.properties,
})

/** A judge to try on a span. */
export const TryJudge = Type.Object({ evaluator: EvaluatorOfRule, run_id: Uuid() })

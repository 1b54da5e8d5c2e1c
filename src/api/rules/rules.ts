/** Rules: what is done with the runs of a project or dataset that meet a filter. */

import { Type } from 'typebox'

import { Json, JsonObject, Maybe, Nullable, OneOf, Text, Time, Uuid } from '../json.ts'
import { operation } from '../operation.ts'
import type { Value } from '../operation.ts'

const Headers = Maybe(
  Type.Record(Type.String({ pattern: '^[A-Za-z0-9-]{1,100}$' }), Text(4_096), {
    maxProperties: 20,
  }),
)
const call = { url: Text(2_048), headers: Headers }
const Webhook = Type.Object(call)

/** The path to the value of each variable of a prompt, such as `input.question`. */
export const VariableMapping = Type.Record(Text(200), Text(500), { maxProperties: 50 })

/** A prompt or a graph that judges runs. */
export const Judge = Type.Object({
  structured: Maybe(Type.Object({
    // `name`, `owner/name` or either with `:ref`.
    hub_ref: Maybe(Text(300)),
    // Pairs of a role and a template; or a manifest.
    prompt: Maybe(Json()),
    template_format: Maybe(OneOf(['f-string', 'mustache'])),
    schema: Maybe(JsonObject({ 'x-max-characters': 32 * 1024 })),
    variable_mapping: Maybe(VariableMapping),
    // As it is serialised.
    model: Maybe(JsonObject({ 'x-max-characters': 32 * 1024 })),
  })),
  graph_id: Maybe(Text(200)),
})

const Alert = Type.Object({
  metric: OneOf(['run_count', 'error_count', 'error_rate', 'latency_p50', 'latency_p99',
    'latency_avg', 'feedback_score', 'cost']),
  threshold: Type.Number(),
  window_minutes: Type.Integer({ minimum: 1, maximum: 24 * 60 }),
  // Above by default.
  comparison: Maybe(OneOf(['above', 'below', 'at_least', 'at_most'])),
  // Of `feedback_score`.
  feedback_key: Maybe(Text(180)),
  ...call,
  // What the endpoint gets besides.
  body: Maybe(JsonObject({ 'x-max-characters': 8 * 1024 })),
})

const SpendLimit = Type.Object({
  calls_per_day: Maybe(Type.Integer({ minimum: 0 })),
  tokens_per_day: Maybe(Type.Integer({ minimum: 0 })),
})

/** The members of a rule: each is one of bodies, of records and of answers. */
export const RuleFields = Type.Object({
  display_name: Nullable(Text(200)),
  session_id: Nullable(Uuid()),
  dataset_id: Nullable(Uuid()),
  is_enabled: Nullable(Type.Boolean()),
  sampling_rate: Nullable(Type.Number({ minimum: 0, maximum: 1 })),
  filter: Nullable(Text(8_192)),
  trace_filter: Nullable(Text(8_192)),
  tree_filter: Nullable(Text(8_192)),
  add_to_annotation_queue_id: Nullable(Uuid()),
  add_to_dataset_id: Nullable(Uuid()),
  webhooks: Nullable(Type.Array(Webhook, { maxItems: 5 })),
  evaluators: Nullable(Type.Array(Judge, { maxItems: 5 })),
  evaluator_id: Nullable(Uuid()),
  alerts: Nullable(Type.Array(Alert, { maxItems: 10 })),
  // Of a rule that was made as an alert rule of the hosted API: what its alerts do not say.
  alert_rule: Nullable(Type.Object({ description: Text(2_000), attribute: Text(100) })),
  spend_limit: Nullable(SpendLimit),
  backfill_from: Nullable(Text(100)),
})

const Body = Type.Object({
  ...Type.Partial(RuleFields).properties,
  code_evaluators: Maybe(Type.Array(Json(), { maxItems: 5 })),
})

const State = Type.Object({
  rule_id: Uuid(),
  last_applied_at: Nullable(Time()),
  read_until: Nullable(Time()),
  looked_at: Type.Integer(),
  applied: Type.Integer(),
  failed: Type.Integer(),
  last_error: Nullable(Type.Object({ time: Time(), message: Text() })),
  backfill: Nullable(
    Type.Object({ start_time: Time(), end_time: Time(), looked_at: Type.Integer(),
      applied: Type.Integer() }),
  ),
  backfill_completed_at: Nullable(Time()),
  spent: Type.Object({ day: Text(), calls: Type.Integer(), tokens: Type.Integer() }),
  alerts_firing: Type.Integer(),
}, { $id: 'RuleState', description: 'The progress of a rule.' })

const Rule = Type.Object({
  ...RuleFields.properties,
  display_name: Text(),
  is_enabled: Type.Boolean(),
  sampling_rate: Type.Number(),
  id: Uuid(),
  tenant_id: Uuid(),
  session_name: Nullable(Text()),
  dataset_name: Nullable(Text()),
  evaluator_version: Type.Integer(),
  created_at: Time(),
  updated_at: Time(),
  state: Maybe(State),
}, { $id: 'Rule', description: 'A rule. Values of headers are hidden.' })

const Line = Type.Object({
  id: Type.Integer(),
  rule_id: Uuid(),
  time: Time(),
  outcome: OneOf(['done', 'failed', 'skipped', 'alert']),
  run_id: Type.Optional(Uuid()),
  trace_id: Type.Optional(Uuid()),
  session_id: Type.Optional(Uuid()),
  message: Text(),
  actions: Type.Array(Type.Object({
    kind: OneOf(['queue', 'dataset', 'webhook', 'evaluator']),
    outcome: OneOf(['done', 'failed', 'skipped']),
    message: Text(),
    judge_run_id: Type.Optional(Uuid()),
  })),
}, { $id: 'RuleLine', description: 'A line of a log: about one run, or about an alert.' })

const Trigger = Type.Object({ start_time: Type.Optional(Json()), end_time: Type.Optional(Json()) })

const Verdict = Type.Object({
  key: Text(),
  score: Nullable(Type.Union([Type.Number(), Type.Boolean()])),
  value: Json(),
  comment: Nullable(Text()),
})

export const listRules = operation('GET', '/api/v1/runs/rules', {
  access: 'read',
  summary: 'List rules, the oldest first',
  query: Type.Object({
    session_id: Type.Optional(Text()),
    dataset_id: Type.Optional(Text()),
    evaluator_id: Type.Optional(Text()),
    name_contains: Type.Optional(Text(200)),
    type: Type.Optional(Text()),
    include_state: Type.Optional(Type.Boolean()),
  }),
  answer: Type.Array(Rule),
})

export const createRule = operation('POST', '/api/v1/runs/rules', {
  access: 'change',
  summary: 'Create a rule',
  body: Body,
  answer: Rule,
})

export const getRule = operation('GET', '/api/v1/runs/rules/:id', {
  access: 'read',
  summary: 'Get a rule',
  answer: Rule,
})

export const patchRule = operation('PATCH', '/api/v1/runs/rules/:id', {
  access: 'change',
  summary: 'Change a rule: null takes away, a member that is missing stays',
  body: Body,
  answer: Rule,
})

export const deleteRule = operation('DELETE', '/api/v1/runs/rules/:id', {
  access: 'change',
  summary: 'Delete a rule',
  answer: Type.Object({}),
})

export const triggerRules = operation('POST', '/api/v1/runs/rules/trigger', {
  access: 'change',
  summary: 'Let rules go over the runs of a time, by default of the last day',
  body: Type.Object({
    rule_ids: Maybe(Type.Array(Uuid(), { maxItems: 100 })),
    dataset_id: Maybe(Uuid()),
    ...Trigger.properties,
  }),
  answer: Type.Object({ triggered: Type.Array(Uuid()) }),
  status: 202,
})

export const triggerRule = operation('POST', '/api/v1/runs/rules/:id/trigger', {
  access: 'change',
  summary: 'Let a rule go over the runs of a time, by default of the last day',
  body: Trigger,
  answer: State,
  status: 202,
})

export const tryJudge = operation('POST', '/api/v1/runs/rules/judge', {
  access: 'change',
  summary: 'Ask a judge about a run, and keep nothing of what it says',
  body: Type.Object({ evaluator: Judge, run_id: Uuid() }),
  answer: Type.Object({
    feedback: Type.Array(Verdict),
    judge_run_id: Uuid(),
    tokens: Type.Integer(),
  }),
})

export const readRuleState = operation('GET', '/api/v1/runs/rules/:id/last_applied', {
  access: 'read',
  summary: 'Read what a rule has done so far',
  answer: State,
})

export const readRuleLog = operation('GET', '/api/v1/runs/rules/:id/logs', {
  access: 'read',
  summary: 'Read the log of a rule, the newest line first',
  query: Type.Object({
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
    before: Type.Optional(Type.Integer({ minimum: 0 })),
  }),
  answer: Type.Array(Line),
})

/** A call to an endpoint of the tenant. */
export type RuleWebhook = Value<typeof Webhook>
/** A judge: a prompt for a model, or a graph of this server. */
export type RuleEvaluator = Value<typeof Judge>
/** A bound on a statistic of the runs of a rule. */
export type RuleAlert = Value<typeof Alert>
/** A bound on the cost of a day. */
export type RuleSpendLimit = Value<typeof SpendLimit>
/** A rule as a client writes it. */
export type RuleBody = Value<typeof Body>
/** A rule as a client reads it. */
export type Rule = Value<typeof Rule>
/** The progress of a rule. */
export type RuleState = Value<typeof State>
/** One thing that a judge says. */
export type RuleVerdict = Value<typeof Verdict>
/** A line of the log of a rule. */
export type RuleLine = Value<typeof Line>

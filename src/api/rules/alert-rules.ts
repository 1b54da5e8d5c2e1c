/** Alert rules as the hosted API has them: a bound on a number of a project, and who is called. */

import { Type } from 'typebox'

import { JsonObject, Maybe, Nullable, Text, Time, Uuid } from '../json.ts'
import { operation } from '../operation.ts'
import type { Value } from '../operation.ts'

const word = () => Text(100)

const Action = Type.Object({
  target: word(),
  config: JsonObject({ 'x-max-characters': 32 * 1024 }),
  alert_rule_id: Maybe(Text(100)),
})

const Measure = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 200 }),
  description: Text(2_000),
  type: word(),
  attribute: word(),
  aggregation: word(),
  operator: word(),
  window_minutes: Type.Integer({ minimum: 1, maximum: 60 }),
  threshold: Maybe(Type.Number()),
  filter: Maybe(Text(8_192)),
  denominator_filter: Maybe(Text(8_192)),
})

const Body = Type.Object({ rule: Measure, actions: Type.Array(Action, { maxItems: 5 }) })

/** One action, or the name of a rule whose actions are all tested. */
const Test = Type.Partial(Action)

const times = { created_at: Time(), updated_at: Time() }

const AlertRule = Type.Object({
  rule: Type.Object({
    id: Uuid(),
    name: Text(),
    description: Text(),
    type: Text(),
    attribute: Text(),
    aggregation: Text(),
    operator: Text(),
    threshold: Type.Number(),
    window_minutes: Type.Integer(),
    filter: Nullable(Text()),
    session_id: Nullable(Uuid()),
    session_name: Nullable(Text()),
    ...times,
  }),
  actions: Type.Array(Type.Object({
    id: Uuid(),
    alert_rule_id: Uuid(),
    target: Text(),
    config: JsonObject(),
    ...times,
  })),
}, { $id: 'AlertRule', description: 'An alert rule. Values of headers are hidden.' })

const Message = Type.Object({ message: Text() })

export const createAlertRule = operation('POST', '/api/v1/platform/alerts/:session', {
  access: 'change',
  summary: 'Create an alert rule of a project',
  body: Body,
  answer: AlertRule,
  status: 201,
})

export const listAlertRules = operation('GET', '/api/v1/platform/alerts/:session', {
  access: 'read',
  summary: 'List the alert rules of a project',
  answer: Type.Array(AlertRule),
})

export const testAlertRule = operation('POST', '/api/v1/platform/alerts/:session/test', {
  access: 'change',
  summary: 'Call a webhook as if its alert fired',
  query: Type.Object({ alert_rule_id: Type.Optional(Text(100)) }),
  body: Test,
  answer: Message,
})

export const getAlertRule = operation('GET', '/api/v1/platform/alerts/:session/:rule', {
  access: 'read',
  summary: 'Get an alert rule',
  answer: AlertRule,
})

export const patchAlertRule = operation('PATCH', '/api/v1/platform/alerts/:session/:rule', {
  access: 'change',
  summary: 'Replace an alert rule',
  body: Body,
  answer: Message,
})

export const deleteAlertRule = operation('DELETE', '/api/v1/platform/alerts/:session/:rule', {
  access: 'change',
  summary: 'Delete an alert rule',
  answer: Message,
})

/** The number of a project that an alert rule watches, and its bound. */
export type AlertMeasure = Value<typeof Measure>
/** The receiver of an alert: the kind of target, and its configuration. */
export type AlertAction = Value<typeof Action>
/** An alert rule as a client reads it. */
export type AlertRule = Value<typeof AlertRule>

/**
 * Alert rules as the hosted API has them: a bound on one number of a project, and who is called.
 * Each is a rule whose alerts differ only in whom they call. Pure.
 */

import type { AlertAction, AlertMeasure, AlertRule, Rule as RuleJson, RuleAlert,
  RuleBody } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { isObject } from '../../../json/index.ts'
import { readFilter } from '../../query/filter/read-filter.ts'
import { conjunctsOf } from '../../query/plan.ts'
import { namedId } from '../../records/catalog/named-id.ts'
import type { Uuid } from '../../spans/span.ts'
import type { Rule } from './rule.ts'

type Metric = RuleAlert['metric']
type Comparison = NonNullable<RuleAlert['comparison']>

/** The metric of each attribute, by how it is aggregated. */
const metrics: Readonly<Record<string, Readonly<Record<string, Metric>>>> = {
  error_count: { sum: 'error_count', pct: 'error_rate' },
  latency: { avg: 'latency_avg' },
  run_latency: { avg: 'latency_avg' },
  feedback_score: { avg: 'feedback_score' },
  run_count: { sum: 'run_count' },
  total_cost: { sum: 'cost' },
}

const comparisons: Readonly<Record<string, Comparison>> = { gt: 'above', gte: 'at_least',
  lt: 'below', lte: 'at_most' }

/** Headers are texts by their names; their number and length are bounded. */
const [headersMax, headerCharacters, urlCharacters, templateCharacters] = [20, 4_096, 2_048, 8_192]

/** The rule that keeps an alert rule. Throws `invalid` for what is not offered. */
export function ruleOfAlert(project: Uuid, rule: AlertMeasure,
  actions: readonly AlertAction[]): RuleBody {
  const measured = measureOf(rule)
  if (actions.length === 0) throw wrong('actions: name whom to call: {"target": "webhook", …}.')
  return {
    display_name: rule.name,
    session_id: project,
    filter: rule.filter ?? null,
    alert_rule: { description: rule.description, attribute: rule.attribute },
    alerts: actions.map((action) => ({ ...measured, ...callOf(action) })),
  }
}

/** Whom an action calls. Throws `invalid` for what is no webhook. */
export function callOf(
  { target, config }: AlertAction,
): Pick<RuleAlert, 'url' | 'headers' | 'body'> {
  if (target !== 'webhook') {
    throw wrong(`target: only a webhook is called here, not ${JSON.stringify(target)}.`)
  }
  const { url, headers, body } = config
  if (typeof url !== 'string' || url === '' || url.length > urlCharacters) {
    throw wrong('config.url: expected the address of the webhook.')
  }
  return { url, headers: headersIn(headers), body: templateIn(body) }
}

/** Translates what an alert rule measures into an alert of a rule. Throws `invalid`. */
function measureOf(rule: AlertMeasure): Omit<RuleAlert, 'url' | 'headers' | 'body'> {
  const { type, attribute, aggregation, operator, threshold, filter, window_minutes: minutes } =
    rule
  if (type !== 'threshold') {
    throw wrong('type: only a threshold is watched here, not a change against an earlier time.')
  }
  if (rule.denominator_filter && rule.denominator_filter !== filter) {
    throw wrong('denominator_filter: a share is one of the runs that the filter finds; leave it ' +
      'out.')
  }
  const of = metrics[attribute]
  const metric = of?.[aggregation]
  if (metric === undefined) {
    throw wrong(of === undefined
      ? `attribute: expected one of ${Object.keys(metrics).join(', ')}.`
      : `aggregation: ${attribute} is measured by ${Object.keys(of).join(' or ')} here.`)
  }
  const comparison = comparisons[operator]
  if (comparison === undefined) {
    throw wrong(`operator: expected one of ${Object.keys(comparisons).join(', ')}.`)
  }
  if (threshold == null) throw wrong('threshold: expected a number.')
  if (metric === 'error_rate' && (threshold < 0 || threshold > 1)) {
    throw wrong('threshold: a share is from 0 to 1, so 5 % are 0.05.')
  }
  return { metric, comparison, threshold, window_minutes: minutes,
    ...metric === 'feedback_score' && { feedback_key: feedbackKeyIn(filter) } }
}

/** The hosted API has no member for the key: the filter names it. */
function feedbackKeyIn(filter: string | null | undefined): string {
  const parts = filter == null || filter.trim() === '' ? [] : conjunctsOf(readFilter(filter))
  const keys = parts.flatMap((part) =>
    part.kind === 'entry' && part.of === 'feedback' ? part.keys ?? [] : []
  )
  if (keys.length === 1) return keys[0]!
  throw wrong('filter: name the feedback: eq(feedback_key, "…").')
}

function headersIn(headers: unknown): Readonly<Record<string, string>> | null {
  if (headers == null) return null
  const known = isObject(headers) ? Object.entries(headers) : undefined
  const isSound = known !== undefined && known.length <= headersMax &&
    known.every(([name, value]) =>
      /^[A-Za-z0-9-]{1,100}$/.test(name) && typeof value === 'string' &&
      value.length <= headerCharacters
    )
  if (!isSound) throw wrong('config.headers: expected an object of up to 20 texts.')
  return headers as Readonly<Record<string, string>>
}

/** The members of the body, as an object or as its JSON. */
function templateIn(body: unknown): Readonly<Record<string, unknown>> | null {
  if (body == null || body === '') return null
  const object = typeof body === 'string' ? jsonIn(body) : body
  if (isObject(object) && JSON.stringify(object).length <= templateCharacters) return object
  throw wrong(`config.body: expected a JSON object of up to ${templateCharacters} characters.`)
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/**
 * An alert rule as clients read it; undefined for another rule. `shown` is the rule as the routes
 * of rules show it: without values of headers.
 */
export function alertRuleJson(rule: Rule, shown: RuleJson): AlertRule | undefined {
  const { alert_rule: about, alerts, id } = rule
  const first = alerts?.[0]
  if (!about || first === undefined) return undefined
  const aggregation = keyOf(metrics[about.attribute] ?? {}, first.metric)
  const operator = keyOf(comparisons, first.comparison ?? 'above')
  if (aggregation === undefined || operator === undefined) return undefined
  const { created_at, updated_at, session_name } = shown
  const times = { created_at, updated_at }
  return {
    rule: { id, name: rule.display_name, description: about.description, type: 'threshold',
      attribute: about.attribute, aggregation, operator, threshold: first.threshold,
      window_minutes: first.window_minutes, filter: rule.filter, session_id: rule.session_id,
      session_name, ...times },
    actions: (shown.alerts ?? []).map(({ url, headers, body }, at) => ({
      id: namedId('rule', `action\n${id}\n${at}`),
      alert_rule_id: id,
      target: 'webhook',
      config: { url, headers: headers ?? {}, ...body && { body } },
      ...times,
    })),
  }
}

function keyOf(values: Readonly<Record<string, string>>, wanted: string): string | undefined {
  return Object.keys(values).find((key) => values[key] === wanted)
}

function wrong(message: string): HeddleError {
  return new HeddleError('invalid', message)
}

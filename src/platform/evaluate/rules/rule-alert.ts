/** Alerts: bounds on statistics of the spans of a rule. Each fires once for each crossing. */

import { hash } from 'node:crypto'

import type { RuleAlert } from '../../../api/index.ts'
import { isObject } from '../../../json/index.ts'
import type { Uuid } from '../../spans/span.ts'
import { namedId } from '../../records/catalog/named-id.ts'
import { webhookDone } from './rule-actions.ts'
import { projectsOf, questionOf } from './rule-pass.ts'
import type { PassParts, RuleInPass } from './rule-pass.ts'
import { ruleMark } from './rule.ts'
import type { Rule } from './rule.ts'

/** Members of the statistics that each metric is made of. */
const members: Readonly<Record<RuleAlert['metric'], readonly string[]>> = {
  run_count: ['run_count'],
  error_count: ['run_count', 'error_rate'],
  error_rate: ['error_rate'],
  latency_p50: ['latency_p50'],
  latency_p99: ['latency_p99'],
  latency_avg: ['latency_avg'],
  feedback_score: ['feedback_stats'],
  cost: ['total_cost'],
}

/** Measures the alerts of a rule, and tells the endpoints of those that begin to fire. */
export async function checkAlerts(parts: PassParts, here: RuleInPass,
  signal: AbortSignal): Promise<void> {
  for (const alert of here.rule.alerts ?? []) {
    const value = await measure(parts, here, alert, signal)
    const name = nameOf(alert)
    const known = here.keeper.state.firing[name]
    const isCrossed = value !== null && crosses(alert, value)
    if (isCrossed !== (known !== undefined)) {
      await here.keeper.decide({ kind: 'measure', alert: name, crossed: isCrossed })
    }
    const fired = here.keeper.state.firing[name]
    if (fired === undefined || fired.delivered) continue
    await tell(parts, here, { alert, value, sinceMs: fired.sinceMs }, signal)
  }
}

/** True if a value is beyond the bound of the alert; `above` by default. */
export function crosses({ threshold, comparison }: Pick<RuleAlert, 'threshold' | 'comparison'>,
  value: number): boolean {
  switch (comparison) {
    case 'below':
      return value < threshold
    case 'at_least':
      return value >= threshold
    case 'at_most':
      return value <= threshold
    default:
      return value > threshold
  }
}

/** The value in statistics; null if nothing was measured. */
export function valueIn({ metric, feedback_key: key }: Pick<RuleAlert, 'metric' | 'feedback_key'>,
  stats: Readonly<Record<string, unknown>>): number | null {
  const number = (name: string) => {
    const value = stats[name]
    return value === null || value === undefined ? null : Number(value)
  }
  switch (metric) {
    case 'error_count':
      return Math.round((number('error_rate') ?? 0) * (number('run_count') ?? 0))
    case 'feedback_score': {
      const all = stats['feedback_stats']
      const own = isObject(all) ? all[key ?? ''] : undefined
      return isObject(own) && typeof own['avg'] === 'number' ? own['avg'] : null
    }
    case 'cost':
      return number('total_cost') ?? 0
    default:
      return number(metric)
  }
}

async function measure(parts: PassParts, here: RuleInPass, alert: RuleAlert,
  signal: AbortSignal): Promise<number | null> {
  const projects = await projectsOf(parts, here)
  if (projects.length === 0) return null
  const nowUs = parts.env.nowMs() * 1_000
  const json = await parts.query().stats({ ...questionOf(here, projects),
    fromUs: nowUs - alert.window_minutes * 60e6, toUs: nowUs + 1, select: members[alert.metric] }, {
    signal,
  })
  return valueIn(alert, JSON.parse(Buffer.from(json).toString()) as Record<string, unknown>)
}

async function tell(parts: PassParts, here: RuleInPass,
  { alert, value, sinceMs }: { readonly alert: RuleAlert; readonly value: number | null;
    readonly sinceMs: number }, signal: AbortSignal): Promise<void> {
  const { rule, keeper } = here
  const [project] = rule.alert_rule === null ? [] : await projectsOf(parts, here)
  const done = await callEndpoint(parts, here, alert, {
    value,
    sinceMs,
    why: sentenceOf(alert, value),
    key: namedId('rule', `alert\n${rule.id}\n${nameOf(alert)}\n${sinceMs}`),
    projectName: project?.name,
  }, signal)
  await keeper.decide({ kind: 'deliver', alert: nameOf(alert),
    line: { outcome: done.outcome === 'done' ? 'alert' : 'failed',
      message: `${capitalised(sentenceOf(alert, value))} ${done.message}` } })
}

/** A call of the endpoint of an alert. */
export interface AlertCall {
  readonly value: number | null
  readonly sinceMs: number
  readonly why: string
  readonly key: Uuid
  readonly projectName: string | undefined
}

/** Calls the endpoint of an alert. */
export async function callEndpoint({ port: { egress } }: Pick<PassParts, 'port'>,
  { tenant, rule }: { readonly tenant: string; readonly rule: AlertedRule }, alert: RuleAlert,
  call: AlertCall, signal: AbortSignal): Promise<ReturnType<typeof webhookDone>> {
  const { url, headers } = alert
  const body = JSON.stringify(bodyOf(rule, alert, call))
  return webhookDone(
    await egress.send({ tenant, method: 'POST', url, tries: 3,
      headers: { 'content-type': 'application/json', ...headers, 'idempotency-key': call.key },
      body: () => Promise.resolve(body) }, signal),
  )
}

/** Members of a rule that the body of an alert has. */
export type AlertedRule = Pick<Rule,
  'id' | 'display_name' | 'session_id' | 'dataset_id' | 'alert_rule'>

/** Body for an endpoint. Alert rules say the same in the words of the hosted API as well. */
function bodyOf(rule: AlertedRule, alert: RuleAlert,
  { value, sinceMs, why, key, projectName }: AlertCall): Record<string, unknown> {
  const { metric, threshold, window_minutes: minutes, comparison, body } = alert
  const since = new Date(sinceMs).toISOString()
  return {
    ...body,
    rule_id: rule.id,
    rule_name: rule.display_name,
    session_id: rule.session_id,
    dataset_id: rule.dataset_id,
    idempotency_key: key,
    metric,
    value,
    threshold,
    comparison: comparison ?? 'above',
    window_minutes: minutes,
    since,
    message: `${rule.display_name}: ${why}`,
    metadata: { [ruleMark]: rule.id },
    ...rule.alert_rule && {
      project_name: projectName ?? null,
      alert_rule_id: rule.id,
      alert_rule_name: rule.display_name,
      alert_rule_type: 'threshold',
      alert_rule_attribute: rule.alert_rule.attribute,
      triggered_metric_value: value,
      triggered_threshold: threshold,
      timestamp: since,
    },
  }
}

function sentenceOf({ metric, threshold, window_minutes: minutes, comparison }: RuleAlert,
  value: number | null): string {
  const than = (comparison ?? 'above').replace('_', ' ')
  return `${metric.replace('_', ' ')} is ${value}, ${than} ${threshold}, over the last ` +
    `${minutes} minutes.`
}

/** The same alert with another bound is another one. */
function nameOf(
  { metric, threshold, window_minutes: minutes, comparison, feedback_key: key, url }: RuleAlert,
): string {
  return hash('sha256',
    JSON.stringify([metric, threshold, minutes, comparison ?? 'above', key ?? null, url])).slice(0,
      16)
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

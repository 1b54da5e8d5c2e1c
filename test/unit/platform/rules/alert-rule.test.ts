/** Alert rules of the hosted API as rules of a project, and back. */

import { expect, it } from 'vitest'

import { alertRuleJson, ruleOfAlert } from '../../../../src/platform/evaluate/rules/alert-rule.ts'
import { changedRule, ruleJson, ruleOf } from '../../../../src/platform/evaluate/rules/rule.ts'
import type { RuleBody } from '../../../../src/api/index.ts'
import type { Rule } from '../../../../src/platform/evaluate/rules/rule.ts'

const project = '00000000-0000-4000-8000-000000000001'
const given = { name: 'Errors', description: 'Too many', type: 'threshold',
  attribute: 'error_count', aggregation: 'pct', operator: 'gte', threshold: 0.05,
  window_minutes: 15 }
const action = { target: 'webhook',
  config: { url: 'https://a.example/', headers: { 'X-Key': 'k' }, body: { channel: 'c' } } }

function kept(body: RuleBody, before?: Rule): Rule {
  return ruleOf({ id: 'r', name: body.display_name ?? '', createdAtMs: 0, modifiedAtMs: 0,
    orderMs: 0, parentId: '', metadataJson: '{}', heldBytes: 0,
    bodyJson: JSON.stringify(changedRule(before, body)) })
}

const shown = (rule: Rule) =>
  alertRuleJson(rule, ruleJson(rule, { tenant: 't', project: 'the project' }))

it.each([
  ['error_count', 'sum', 'error_count'],
  ['error_count', 'pct', 'error_rate'],
  ['latency', 'avg', 'latency_avg'],
  ['run_latency', 'avg', 'latency_avg'],
  ['feedback_score', 'avg', 'feedback_score'],
  ['run_count', 'sum', 'run_count'],
  ['total_cost', 'sum', 'cost'],
])('The %s by %s is watched, and shown as it was sent', (attribute, aggregation, metric) => {
  for (const operator of ['gt', 'gte', 'lt', 'lte']) {
    const rule = { ...given, attribute, aggregation, operator,
      filter: 'and(eq(is_root, true), eq(feedback_key, "good"))' }
    const made = kept(ruleOfAlert(project, rule, [action]))
    expect(made.alerts).toMatchObject([{ metric, threshold: 0.05, window_minutes: 15 }])
    expect(made.alerts![0]!.feedback_key).toBe(metric === 'feedback_score' ? 'good' : undefined)
    expect(shown(made)).toMatchObject({
      rule: { ...rule, id: 'r', session_id: project, session_name: 'the project' },
    })
  }
})

it('Values of headers are not shown, and stay when they are sent back', () => {
  const made = kept(
    ruleOfAlert(project, given, [action, { ...action,
      config: { url: 'https://b.example/', body: '{"text": "x"}' } }]),
  )
  const { actions } = shown(made) as {
    readonly actions: readonly { readonly target: string;
      readonly config: Readonly<Record<string, unknown>> }[]
  }
  expect(actions).toMatchObject([
    { target: 'webhook', alert_rule_id: 'r',
      config: { url: 'https://a.example/', headers: { 'x-key': '••••' }, body: { channel: 'c' } } },
    { target: 'webhook', alert_rule_id: 'r',
      config: { url: 'https://b.example/', headers: {}, body: { text: 'x' } } },
  ])
  const after = kept(ruleOfAlert(project, { ...given, threshold: 0.1 }, actions), made)
  expect(after.alerts).toMatchObject([{ threshold: 0.1, headers: { 'x-key': 'k' } }, {
    threshold: 0.1,
  }])
})

it('Other rules are no alert rules', () => {
  const made = kept(ruleOfAlert(project, given, [action]))
  expect(shown({ ...made, alert_rule: null })).toBeUndefined()
  expect(shown({ ...made, alerts: null })).toBeUndefined()
  expect(shown({ ...made, alerts: [{ ...made.alerts![0]!, metric: 'latency_p99' }] }))
    .toBeUndefined()
})

it('What is not offered is refused in one sentence that names it', () => {
  const cases: readonly (readonly [object, object, string])[] = [
    [{ type: 'change', threshold_multiplier: 2 }, {}, 'type: only a threshold'],
    [{ attribute: 'run_latency', aggregation: 'pct' }, {}, 'run_latency is measured by avg here'],
    [{ attribute: 'error_count', aggregation: 'avg' }, {}, 'by sum or pct here'],
    [{ attribute: 'mood' }, {}, 'attribute: expected one of'],
    [{ operator: 'eq' }, {}, 'operator: expected one of gt, gte, lt, lte'],
    [{ threshold: null }, {}, 'threshold: expected a number'],
    [{ threshold: 5 }, {}, '5 % are 0.05'],
    [{ denominator_filter: 'eq(run_type, "llm")' }, {}, 'denominator_filter:'],
    [{ attribute: 'feedback_score', aggregation: 'avg' }, {}, 'name the feedback'],
    [{ attribute: 'feedback_score', aggregation: 'avg',
      filter: 'or(eq(feedback_key, "a"), eq(feedback_key, "b"))' }, {}, 'name the feedback'],
    [{}, { target: 'pagerduty' }, 'only a webhook is called here, not "pagerduty"'],
    [{}, { config: {} }, 'config.url:'],
    [{}, { config: { url: 'https://a', headers: { a: 1 } } }, 'config.headers:'],
    [{}, { config: { url: 'https://a', body: '{' } }, 'config.body:'],
    [{}, { config: { url: 'https://a', body: 'x'.repeat(9_000) } }, 'config.body:'],
  ]
  for (const [rule, changed, message] of cases) {
    expect(() => ruleOfAlert(project, { ...given, ...rule }, [{ ...action, ...changed }]), message)
      .toThrow(
        expect.objectContaining({ code: 'invalid',
          message: expect.stringContaining(message) as string }) as Error,
      )
  }
  expect(() => ruleOfAlert(project, given, [])).toThrow('name whom to call')
})

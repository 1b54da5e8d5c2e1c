/** Routes of alert rules, as the hosted API has them. Each is kept as a rule of its project. */

import { createAlertRule, deleteAlertRule, getAlertRule, listAlertRules, patchAlertRule,
  testAlertRule } from '../../../api/index.ts'
import type { AlertRule, Body, Params, RuleAlert } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { alertRuleJson, callOf, ruleOfAlert } from '../../../platform/index.ts'
import type { Rule, Rules, Uuid } from '../../../platform/index.ts'
import { leftSignal } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { requireId } from '../path-id.ts'
import { projectOf } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'

/** Adds the routes below `/api/v1`. */
export function alertRuleRoutes(app: App, { platform, env }: PlatformParts): void {
  const { rules } = platform
  if (rules === undefined) return

  serve(app, createAlertRule, async (request) => {
    const { params, body, caller: { tenant } } = request
    const project = await projectOf(platform, request, requireId(params.session, 'project'))
    const made = await rules.create(tenant, ruleOfAlert(project.id, body.rule, body.actions))
    return requireShown(await shown(rules, tenant, made))
  })

  // The hosted API has no list. This one has the same items.
  serve(app, listAlertRules, async (request) => {
    const { params, caller: { tenant } } = request
    const project = await projectOf(platform, request, requireId(params.session, 'project'))
    const own = (await rules.all(tenant)).filter(({ session_id: id }) => id === project.id)
    return (await Promise.all(own.map((rule) => shown(rules, tenant, rule))))
      .filter((each) => each !== undefined)
  })

  serve(app, testAlertRule, async (request, reply) => {
    const { params, query, body, caller: { tenant } } = request
    const project = await projectOf(platform, request, requireId(params.session, 'project'))
    // The body may be missing.
    const action: Body<typeof testAlertRule> | undefined = body
    const id = action?.alert_rule_id ?? query.alert_rule_id
    const known = id == null
      ? undefined
      : (await alertRule(rules, { tenant, id, project: project.id })).rule
    const signal = leftSignal(reply)
    for (const alert of alertsToTest(action ?? {}, known)) {
      await rules.tryAlert(tenant, known ?? testRule(project.id, env.uuid7()), alert, signal)
    }
    return { message: 'The alert was sent.' }
  })

  oneRuleRoutes(app, rules)
}

function oneRuleRoutes(app: App, rules: Rules): void {
  const place = ({ session, rule }: Params<typeof getAlertRule>, tenant: string) => ({ tenant,
    id: rule, project: requireId(session, 'project') })

  serve(app, getAlertRule,
    async ({ params, caller: { tenant } }) => (await alertRule(rules, place(params, tenant))).json)

  serve(app, patchAlertRule, async ({ params, body, caller: { tenant } }) => {
    const { rule: { id, session_id: project } } = await alertRule(rules, place(params, tenant))
    await rules.change(tenant, id, ruleOfAlert(project!, body.rule, body.actions))
    return { message: 'The alert rule was updated.' }
  })

  serve(app, deleteAlertRule, async ({ params, caller: { tenant } }) => {
    const { rule } = await alertRule(rules, place(params, tenant))
    await rules.delete(tenant, rule.id)
    return { message: 'The alert rule was deleted.' }
  })
}

async function shown(rules: Rules, tenant: string, rule: Rule) {
  const [json] = await rules.json(tenant, [rule])
  return alertRuleJson(rule, json!)
}

/** An alert rule of a project. Throws `not_found`. */
async function alertRule(rules: Rules,
  { tenant, project, id }: { readonly tenant: string; readonly project: Uuid;
    readonly id: string }) {
  const rule = await rules.get(tenant, requireId(id, 'alert rule'))
  return { rule,
    json: requireShown(rule.session_id === project ? await shown(rules, tenant, rule) : undefined) }
}

function requireShown(json: AlertRule | undefined): AlertRule {
  if (json !== undefined) return json
  throw new HeddleError('not_found', 'There is no such alert rule.')
}

const unmeasured = { metric: 'run_count', threshold: 0, window_minutes: 5 } as const

/** The alerts of a known rule, or the one that calls as an action says. */
function alertsToTest({ target, config }: Body<typeof testAlertRule>,
  known: Rule | undefined): readonly RuleAlert[] {
  const all = known?.alerts ?? []
  if (target !== undefined && config !== undefined) {
    return [{ ...all[0] ?? unmeasured, ...callOf({ target, config }) }]
  }
  if (all.length > 0) return all
  throw new HeddleError('invalid', 'Name an action, {"target": "webhook", "config": …}, or an ' +
    'alert_rule_id.')
}

/** A rule that is not made yet. */
function testRule(project: Uuid, id: Uuid) {
  return { id, display_name: 'Test', session_id: project, dataset_id: null,
    alert_rule: { description: '', attribute: unmeasured.metric } }
}

/** Routes of alert rules, as the hosted API has them. Each is kept as a rule of its project. */

import { Type } from 'typebox'
import type { Static } from 'typebox'

import type { RuleAlert } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { alertRuleJson, callOf, ruleOfAlert } from '../../../platform/index.ts'
import type { Rule, Rules, Uuid } from '../../../platform/index.ts'
import { leftSignal } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { JsonObject, Nullable } from '../../schema/json.ts'
import { requireId } from '../path-id.ts'
import { platformRoute, projectOf } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'

const text = (maxLength: number) => Type.Optional(Nullable(Type.String({ maxLength })))
const word = () => Type.String({ maxLength: 100 })

const Action = Type.Object({
  target: word(),
  config: JsonObject({ 'x-max-characters': 32 * 1024 }),
  alert_rule_id: text(100),
})

const AlertRule = Type.Object({
  rule: Type.Object({
    name: Type.String({ minLength: 1, maxLength: 200 }),
    description: Type.String({ maxLength: 2_000 }),
    type: word(),
    attribute: word(),
    aggregation: word(),
    operator: word(),
    window_minutes: Type.Integer({ minimum: 1, maximum: 60 }),
    threshold: Type.Optional(Nullable(Type.Number())),
    filter: text(8_192),
    denominator_filter: text(8_192),
  }),
  actions: Type.Array(Action, { maxItems: 5 }),
})

/** One action, or what names a rule whose actions are all tested. */
const TestAction = Type.Object({ ...Type.Partial(Action).properties })

const ProjectPath = Type.Object({ session: Type.String() })
const RulePath = Type.Object({ session: Type.String(), rule: Type.String() })
const TestQuery = Type.Object({ alert_rule_id: Type.Optional(Type.String({ maxLength: 100 })) })

/** Adds the routes below `/api/v1`. */
export function alertRuleRoutes(app: App, { platform, env }: PlatformParts): void {
  const { rules } = platform
  if (rules === undefined) return
  const root = '/platform/alerts/:session'

  app.post(root, platformRoute('change', { params: ProjectPath, body: AlertRule }),
    async (request, reply) => {
      const { params, body, caller: { tenant } } = request
      const project = await projectOf(platform, request, requireId(params.session, 'project'))
      const made = await rules.create(tenant, ruleOfAlert(project.id, body.rule, body.actions))
      return reply.code(201).send(await shown(rules, tenant, made))
    })

  // The hosted API has no list. This one has the same items.
  app.get(root, platformRoute('read', { params: ProjectPath }), async (request) => {
    const { params, caller: { tenant } } = request
    const project = await projectOf(platform, request, requireId(params.session, 'project'))
    const own = (await rules.all(tenant)).filter(({ session_id: id }) => id === project.id)
    return (await Promise.all(own.map((rule) => shown(rules, tenant, rule))))
      .filter((each) => each !== undefined)
  })

  app.post(`${root}/test`,
    platformRoute('change', { params: ProjectPath, querystring: TestQuery,
      body: Type.Optional(TestAction) as unknown as typeof TestAction }),
    async (request, reply) => {
      const { params, query, body, caller: { tenant } } = request
      const project = await projectOf(platform, request, requireId(params.session, 'project'))
      const id = body?.alert_rule_id ?? query.alert_rule_id
      const known = id == null
        ? undefined
        : (await alertRule(rules, { tenant, id, project: project.id })).rule
      const signal = leftSignal(reply)
      for (const alert of alertsToTest(body ?? {}, known)) {
        await rules.tryAlert(tenant, known ?? testRule(project.id, env.uuid7()), alert, signal)
      }
      return { message: 'The alert was sent.' }
    })

  oneRuleRoutes(app, rules)
}

function oneRuleRoutes(app: App, rules: Rules): void {
  const path = '/platform/alerts/:session/:rule'
  const place = ({ session, rule }: Static<typeof RulePath>, tenant: string) => ({ tenant, id: rule,
    project: requireId(session, 'project') })

  app.get(path, platformRoute('read', { params: RulePath }),
    async ({ params, caller: { tenant } }) => (await alertRule(rules, place(params, tenant))).json)

  app.patch(path, platformRoute('change', { params: RulePath, body: AlertRule }),
    async ({ params, body, caller: { tenant } }) => {
      const { rule: { id, session_id: project } } = await alertRule(rules, place(params, tenant))
      await rules.change(tenant, id, ruleOfAlert(project!, body.rule, body.actions))
      return { message: 'The alert rule was updated.' }
    })

  app.delete(path, platformRoute('change', { params: RulePath }),
    async ({ params, caller: { tenant } }) => {
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
  const json = rule.session_id === project ? await shown(rules, tenant, rule) : undefined
  if (json !== undefined) return { rule, json }
  throw new HeddleError('not_found', 'There is no such alert rule.')
}

const unmeasured = { metric: 'run_count', threshold: 0, window_minutes: 5 } as const

/** The alerts of a known rule, or the one that calls as an action says. */
function alertsToTest({ target, config }: Static<typeof TestAction>,
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

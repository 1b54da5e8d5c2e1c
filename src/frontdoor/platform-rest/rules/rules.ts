/** Routes of rules: their records, their logs, and how they are triggered. */

import { limitConcurrency } from '../../../../cluster/index.ts'
import { createRule, deleteRule, getRule, listRules, patchRule, readRuleLog, readRuleState,
  triggerRule, triggerRules, tryJudge } from '../../../api/index.ts'
import type { Body, Query, RuleBody, RuleLine,
  RuleState as RuleStateJson } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { readTimeUs } from '../../../platform/index.ts'
import type { LoggedEntry, Rule, Rules, RuleState, Uuid } from '../../../platform/index.ts'
import { leftSignal } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { requireId } from '../path-id.ts'
import type { PlatformParts } from '../platform-route.ts'

/** Rules whose states are read at once. */
const statesAtOnce = 8

/** Adds the routes of rules; none if the platform has no rules. */
export function ruleRoutes(app: App, { platform: { rules } }: PlatformParts): void {
  if (rules === undefined) return
  const one = async (tenant: string, rule: Rule) => (await rules.json(tenant, [rule]))[0]!

  serve(app, listRules, async ({ query, caller: { tenant } }) => {
    const found = (await rules.all(tenant)).filter(wanted(query))
    const shown = await rules.json(tenant, found)
    if (query.include_state !== true) return shown
    const inTurn = limitConcurrency(statesAtOnce)
    const states = await Promise.all(
      found.map(({ id }) =>
        inTurn(() => rules.state(tenant, id).then((state) => stateJson(id, state), unknownState))
      ),
    )
    return shown.map((rule, at) => ({ ...rule, state: states[at] }))
  })
  serve(app, createRule,
    async ({ body, caller: { tenant } }) => one(tenant, await rules.create(tenant, offered(body))))
  serve(app, triggerRules, async ({ body, caller: { tenant } }) => {
    const { rule_ids: ids, dataset_id: dataset } = body
    if (!ids && !dataset) {
      throw new HeddleError('invalid', 'Name rules in rule_ids, or a dataset in dataset_id.')
    }
    const named = ids ?? (await rules.all(tenant))
      .filter((rule) => rule.dataset_id === dataset && rule.is_enabled).map(({ id }) => id)
    for (const id of named) await rules.trigger(tenant, id, timeOf(body))
    return { triggered: named }
  })
  serve(app, tryJudge, async ({ body, caller: { tenant } }, reply) => {
    const { verdicts, judgeRun, tokens } = await rules.tryJudge(tenant, body.evaluator, body.run_id,
      leftSignal(reply))
    return { feedback: verdicts, judge_run_id: judgeRun, tokens }
  })
  serve(app, getRule,
    async ({ params, caller: { tenant } }) =>
      one(tenant, await rules.get(tenant, requireId(params.id, 'rule'))))
  serve(app, patchRule,
    async ({ params, body, caller: { tenant } }) =>
      one(tenant, await rules.change(tenant, requireId(params.id, 'rule'), offered(body))))
  serve(app, deleteRule, async ({ params, caller: { tenant } }) => {
    await rules.delete(tenant, requireId(params.id, 'rule'))
    return {}
  })
  progressRoutes(app, rules)
}

function progressRoutes(app: App, rules: Rules): void {
  serve(app, readRuleLog, async ({ params, query, caller: { tenant } }) => {
    const id = requireId(params.id, 'rule')
    const { limit = 100, before } = query
    return (await rules.log(tenant, id, { limit, before })).map((entry) => lineJson(id, entry))
  })
  serve(app, readRuleState, async ({ params, caller: { tenant } }) => {
    const id = requireId(params.id, 'rule')
    return stateJson(id, await rules.state(tenant, id))
  })
  serve(app, triggerRule, async ({ params, body, caller: { tenant } }) => {
    const id = requireId(params.id, 'rule')
    return stateJson(id, await rules.trigger(tenant, id, timeOf(body)))
  })
}

function wanted(
  { session_id: project, dataset_id: dataset, evaluator_id: evaluator, name_contains: part, type }:
    Query<typeof listRules>,
): (rule: Rule) => boolean {
  const name = part?.toLowerCase()
  return (rule) =>
    (project === undefined || rule.session_id === project) &&
    (dataset === undefined || rule.dataset_id === dataset) &&
    (evaluator === undefined || rule.evaluator_id === evaluator) &&
    (name === undefined || rule.display_name.toLowerCase().includes(name)) &&
    (type === undefined || (type === 'dataset') === (rule.dataset_id !== null))
}

/** Throws `invalid` for what is never offered: no tenant's code runs outside of graphs. */
function offered({ code_evaluators: code, ...body }: RuleBody) {
  if (code == null || code.length === 0) return body
  throw new HeddleError('invalid', 'code_evaluators: code is not run here. Name a graph of this ' +
    'server as an evaluator instead: {"graph_id": …}.')
}

function timeOf({ start_time: start, end_time: end }: Body<typeof triggerRule>) {
  const read = (name: string, value: unknown) => {
    if (value === undefined || value === null) return undefined
    const us = readTimeUs(value)
    if (us === undefined) throw new HeddleError('invalid', `${name}: expected a time.`)
    return us
  }
  return { fromUs: read('start_time', start), throughUs: read('end_time', end) }
}

function lineJson(rule: Uuid, { no, atMs, actions, ...entry }: LoggedEntry): RuleLine {
  return { id: no, rule_id: rule, time: new Date(atMs).toISOString(), ...entry,
    actions: actions ?? [] }
}

function stateJson(rule: Uuid, state: RuleState): RuleStateJson {
  const { looked, applied, failed, appliedMs, error, second, filledMs, day, calls, tokens, firing,
    cursor } = state
  const atUs = (us: number) => new Date(us / 1_000).toISOString()
  return {
    rule_id: rule,
    last_applied_at: timeOfMs(appliedMs),
    read_until: cursor === '' ? null : atUs(Number(cursor.slice(0, 16))),
    looked_at: looked,
    applied,
    failed,
    last_error: error === null ? null : { time: atUs(error.atMs * 1_000), message: error.text },
    backfill: second === null
      ? null
      : { start_time: atUs(second.fromUs), end_time: atUs(second.throughUs),
        looked_at: second.looked, applied: second.applied },
    backfill_completed_at: timeOfMs(filledMs),
    spent: { day, calls, tokens },
    alerts_firing: Object.keys(firing).length,
  }
}

/** A list is worth more than the state of each of its rules. */
function unknownState(): null {
  return null
}

function timeOfMs(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString()
}

/** Routes of rules: their records, their logs, and how they are triggered. */

import { Type } from 'typebox'
import type { Static } from 'typebox'

import { limitConcurrency } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import { readTimeUs } from '../../../platform/index.ts'
import type { LoggedEntry, Rule, Rules, RuleState, Uuid } from '../../../platform/index.ts'
import { leftSignal } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { requireId } from '../path-id.ts'
import { platformRoute } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { RuleFields, TriggerBody, TriggerSome, TryJudge } from './rule-body.ts'

const IdPath = Type.Object({ id: Type.String() })
const ListQuery = Type.Object({
  session_id: Type.Optional(Type.String()),
  dataset_id: Type.Optional(Type.String()),
  evaluator_id: Type.Optional(Type.String()),
  name_contains: Type.Optional(Type.String({ maxLength: 200 })),
  type: Type.Optional(Type.String()),
  include_state: Type.Optional(Type.Boolean()),
})
const LogQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
  before: Type.Optional(Type.Integer({ minimum: 0 })),
})

/** Rules whose states are read at once. */
const statesAtOnce = 8

/** Adds the routes below `/api/v1`. */
export function ruleRoutes(app: App, { platform: { rules } }: PlatformParts): void {
  if (rules === undefined) return
  const one = async (tenant: string, rule: Rule) => (await rules.json(tenant, [rule]))[0]

  app.get('/runs/rules', platformRoute('read', { querystring: ListQuery }),
    async ({ query, caller: { tenant } }) => {
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
  app.post('/runs/rules', platformRoute('change', { body: RuleFields }),
    async ({ body, caller: { tenant } }) => one(tenant, await rules.create(tenant, offered(body))))
  app.post('/runs/rules/trigger', platformRoute('change', { body: TriggerSome }),
    async ({ body, caller: { tenant } }, reply) => {
      const { rule_ids: ids, dataset_id: dataset } = body
      if (!ids && !dataset) {
        throw new HeddleError('invalid', 'Name rules in rule_ids, or a dataset in dataset_id.')
      }
      const named = ids ?? (await rules.all(tenant))
        .filter((rule) => rule.dataset_id === dataset && rule.is_enabled).map(({ id }) => id)
      for (const id of named) await rules.trigger(tenant, id, timeOf(body))
      return reply.code(202).send({ triggered: named })
    })
  app.post('/runs/rules/judge', platformRoute('change', { body: TryJudge }),
    async ({ body, caller: { tenant } }, reply) => {
      const { verdicts, judgeRun, tokens } = await rules.tryJudge(tenant, body.evaluator,
        body.run_id, leftSignal(reply))
      return { feedback: verdicts, judge_run_id: judgeRun, tokens }
    })
  app.get('/runs/rules/:id', platformRoute('read', { params: IdPath }),
    async ({ params, caller: { tenant } }) =>
      one(tenant, await rules.get(tenant, requireId(params.id, 'rule'))))
  app.patch('/runs/rules/:id', platformRoute('change', { params: IdPath, body: RuleFields }),
    async ({ params, body, caller: { tenant } }) =>
      one(tenant, await rules.change(tenant, requireId(params.id, 'rule'), offered(body))))
  app.delete('/runs/rules/:id', platformRoute('change', { params: IdPath }),
    async ({ params, caller: { tenant } }) => {
      await rules.delete(tenant, requireId(params.id, 'rule'))
      return {}
    })
  progressRoutes(app, rules)
}

function progressRoutes(app: App, rules: Rules): void {
  app.get('/runs/rules/:id/logs', platformRoute('read', { params: IdPath, querystring: LogQuery }),
    async ({ params, query, caller: { tenant } }) => {
      const id = requireId(params.id, 'rule')
      const { limit = 100, before } = query
      return (await rules.log(tenant, id, { limit, before })).map((entry) => lineJson(id, entry))
    })
  app.get('/runs/rules/:id/last_applied', platformRoute('read', { params: IdPath }),
    async ({ params, caller: { tenant } }) => {
      const id = requireId(params.id, 'rule')
      return stateJson(id, await rules.state(tenant, id))
    })
  app.post('/runs/rules/:id/trigger',
    platformRoute('change', { params: IdPath,
      body: Type.Optional(TriggerBody) as unknown as typeof TriggerBody }),
    async ({ params, body, caller: { tenant } }, reply) => {
      const id = requireId(params.id, 'rule')
      const state = await rules.trigger(tenant, id, timeOf(body ?? {}))
      return reply.code(202).send(stateJson(id, state))
    })
}

function wanted(
  { session_id: project, dataset_id: dataset, evaluator_id: evaluator, name_contains: part, type }:
    Static<typeof ListQuery>,
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
function offered({ code_evaluators: code, ...body }: Static<typeof RuleFields>) {
  if (code == null || code.length === 0) return body
  throw new HeddleError('invalid', 'code_evaluators: code is not run here. Name a graph of this ' +
    'server as an evaluator instead: {"graph_id": …}.')
}

function timeOf({ start_time: start, end_time: end }: Static<typeof TriggerBody>) {
  const read = (name: string, value: unknown) => {
    if (value === undefined || value === null) return undefined
    const us = readTimeUs(value)
    if (us === undefined) throw new HeddleError('invalid', `${name}: expected a time.`)
    return us
  }
  return { fromUs: read('start_time', start), throughUs: read('end_time', end) }
}

function lineJson(rule: Uuid, { no, atMs, actions, ...entry }: LoggedEntry) {
  return { id: no, rule_id: rule, time: timeOfMs(atMs), ...entry, actions: actions ?? [] }
}

function stateJson(rule: Uuid, state: RuleState) {
  const { looked, applied, failed, appliedMs, error, second, filledMs, day, calls, tokens, firing,
    cursor } = state
  return {
    rule_id: rule,
    last_applied_at: timeOfMs(appliedMs),
    read_until: cursor === '' ? null : timeOfMs(Number(cursor.slice(0, 16)) / 1_000),
    looked_at: looked,
    applied,
    failed,
    last_error: error === null ? null : { time: timeOfMs(error.atMs), message: error.text },
    backfill: second === null
      ? null
      : { start_time: timeOfMs(second.fromUs / 1_000), end_time: timeOfMs(second.throughUs / 1_000),
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

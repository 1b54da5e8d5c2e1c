/** Routes of kept evaluators, as generated clients call them. */

import { createEvaluator, deleteEvaluator, deleteEvaluators, getEvaluator, listEvaluators,
  patchEvaluator } from '../../../api/index.ts'
import type { Evaluator as EvaluatorJson } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { tenantId } from '../../../platform/index.ts'
import type { Evaluator, Rule, Rules } from '../../../platform/index.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { requireId } from '../path-id.ts'
import type { PlatformParts } from '../platform-route.ts'

/** Adds the routes of evaluators; none if the platform has no rules. */
export function evaluatorRoutes(app: App, { platform: { rules } }: PlatformParts): void {
  if (rules === undefined) return
  const { evaluators } = rules

  serve(app, listEvaluators,
    async ({ query: { limit = 100, offset = 0, name }, caller: { tenant } }) => {
      const all = (await evaluators.all(tenant))
        .filter((each) => name === undefined || each.name.includes(name))
      const shown = await shownBy(rules, tenant)
      return { evaluators: all.slice(offset, offset + limit).map(shown), total: all.length }
    })
  serve(app, createEvaluator, async ({ body, caller: { tenant } }) => {
    requireNoCode(body.code_evaluator)
    const made = await evaluators.create(tenant, body)
    return { evaluator: (await shownBy(rules, tenant))(made) }
  })
  serve(app, getEvaluator, async ({ params, caller: { tenant } }) => {
    const found = await evaluators.get(tenant, requireId(params.id, 'evaluator'))
    return (await shownBy(rules, tenant))(found)
  })
  serve(app, patchEvaluator, async ({ params, body, caller: { tenant } }) => {
    requireNoCode(body.code_evaluator)
    const changed = await evaluators.change(tenant, requireId(params.id, 'evaluator'), body)
    return { evaluator: (await shownBy(rules, tenant))(changed) }
  })
  serve(app, deleteEvaluator, async ({ params, caller: { tenant } }) => {
    await evaluators.delete(tenant, requireId(params.id, 'evaluator'))
  })
  serve(app, deleteEvaluators, async ({ query, caller: { tenant } }) => {
    const succeeded: string[] = []
    const failed: { readonly id: string; readonly error: string }[] = []
    for (const id of [query.evaluator_ids].flat()) {
      await evaluators.delete(tenant, requireId(id, 'evaluator')).then(
        () => succeeded.push(id),
        (error: unknown) => failed.push({ id, error: HeddleError.from(error).message }),
      )
    }
    return { succeeded, failed }
  })
}

function requireNoCode(code: unknown): void {
  if (code == null) return
  throw new HeddleError('invalid', 'code_evaluator: code is not run here. Name a graph of this ' +
    'server in a rule instead.')
}

/** Makes the function that shows evaluators, with the rules that name them. */
async function shownBy(rules: Rules, tenant: string) {
  const all = await rules.all(tenant)
  const ruleOf = ({ id, session_id: project, dataset_id: dataset }: Rule) => ({ id,
    session_id: project, dataset_id: dataset })
  return ({ id, name, llm_evaluator: llm, createdMs, modifiedMs }: Evaluator): EvaluatorJson => ({
    id,
    name,
    type: 'llm',
    tenant_id: tenantId(tenant),
    created_at: new Date(createdMs).toISOString(),
    updated_at: new Date(modifiedMs).toISOString(),
    is_managed: false,
    llm_evaluator: { ...llm, evaluator_id: id },
    run_rules: all.filter(({ evaluator_id: used }) => used === id).map(ruleOf),
  })
}

/** Routes of kept evaluators, as generated clients call them. */

import { Type } from 'typebox'

import { HeddleError } from '../../../errors.ts'
import { tenantId } from '../../../platform/index.ts'
import type { Evaluator, Rule, Rules } from '../../../platform/index.ts'
import type { App } from '../../http/route.ts'
import { Json, Nullable } from '../../schema/json.ts'
import { requireId } from '../path-id.ts'
import { platformRoute } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'

const optional = <Schema extends Parameters<typeof Nullable>[0]>(schema: Schema) =>
  Type.Optional(Nullable(schema))
const IdPath = Type.Object({ id: Type.String() })
const Fields = Type.Object({
  name: optional(Type.String({ maxLength: 200 })),
  type: optional(Type.String()),
  llm_evaluator: optional(Type.Object({
    prompt_repo_handle: optional(Type.String({ maxLength: 300 })),
    commit_hash_or_tag: optional(Type.String({ maxLength: 100 })),
    variable_mapping: optional(
      Type.Record(Type.String({ maxLength: 200 }), Type.String({ maxLength: 500 }), {
        maxProperties: 50,
      }),
    ),
  })),
  code_evaluator: optional(Json()),
})
const ListQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  offset: Type.Optional(Type.Integer({ minimum: 0 })),
  name: Type.Optional(Type.String()),
})
const ManyQuery = Type.Object({
  evaluator_ids: Type.Union([Type.String(), Type.Array(Type.String(), { maxItems: 100 })]),
})

/** Adds the routes below `/api/v1`. */
export function evaluatorRoutes(app: App, { platform: { rules } }: PlatformParts): void {
  if (rules === undefined) return
  const { evaluators } = rules

  app.get('/platform/evaluators', platformRoute('read', { querystring: ListQuery }),
    async ({ query: { limit = 100, offset = 0, name }, caller: { tenant } }) => {
      const all = (await evaluators.all(tenant))
        .filter((each) => name === undefined || each.name.includes(name))
      const shown = await shownBy(rules, tenant)
      return { evaluators: all.slice(offset, offset + limit).map(shown), total: all.length }
    })
  app.post('/platform/evaluators', platformRoute('change', { body: Fields }),
    async ({ body, caller: { tenant } }, reply) => {
      requireNoCode(body.code_evaluator)
      const made = await evaluators.create(tenant, body)
      return reply.code(201).send({ evaluator: (await shownBy(rules, tenant))(made) })
    })
  app.get('/platform/evaluators/:id', platformRoute('read', { params: IdPath }),
    async ({ params, caller: { tenant } }) => {
      const found = await evaluators.get(tenant, requireId(params.id, 'evaluator'))
      return (await shownBy(rules, tenant))(found)
    })
  app.patch('/platform/evaluators/:id', platformRoute('change', { params: IdPath, body: Fields }),
    async ({ params, body, caller: { tenant } }) => {
      requireNoCode(body.code_evaluator)
      const changed = await evaluators.change(tenant, requireId(params.id, 'evaluator'), body)
      return { evaluator: (await shownBy(rules, tenant))(changed) }
    })
  app.delete('/platform/evaluators/:id', platformRoute('change', { params: IdPath }),
    async ({ params, caller: { tenant } }, reply) => {
      await evaluators.delete(tenant, requireId(params.id, 'evaluator'))
      return reply.code(204).send()
    })
  app.delete('/platform/evaluators', platformRoute('change', { querystring: ManyQuery }),
    async ({ query, caller: { tenant } }) => {
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

/** How evaluators are shown, with the rules that name them. */
async function shownBy(rules: Rules, tenant: string) {
  const all = await rules.all(tenant)
  const ruleOf = ({ id, session_id: project, dataset_id: dataset }: Rule) => ({ id,
    session_id: project, dataset_id: dataset })
  return ({ id, name, llm_evaluator: llm, createdMs, modifiedMs }: Evaluator) => ({
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

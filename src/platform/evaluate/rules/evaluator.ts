/** Kept evaluators: judges with a name, which rules refer to. */

import type { Env } from '../../../../cluster/index.ts'
import type { EvaluatorBody, LlmEvaluator, RuleEvaluator } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { CatalogClient } from '../../records/catalog/catalog-client.ts'
import type { CatalogRecord } from '../../records/catalog/catalog-record.ts'
import { collection } from '../../records/catalog/collection.ts'
import type { Uuid } from '../../spans/span.ts'

/** An evaluator that the tenant keeps by name, for use in its rules. */
export interface Evaluator {
  readonly id: Uuid
  readonly name: string
  readonly llm_evaluator: LlmEvaluator
  readonly createdMs: number
  readonly modifiedMs: number
}

/** The evaluators of tenants. All methods throw HeddleError. */
export interface Evaluators {
  /** Up to 100, the oldest first. */
  all(tenant: string): Promise<readonly Evaluator[]>
  get(tenant: string, id: Uuid): Promise<Evaluator>
  create(tenant: string, body: EvaluatorBody): Promise<Evaluator>
  change(tenant: string, id: Uuid, body: EvaluatorBody): Promise<Evaluator>
  delete(tenant: string, id: Uuid): Promise<void>
}

const evaluatorsMax = 100

/** Evaluators over the catalogs of all tenants, 100 of each tenant at most. */
export function evaluatorsOver(catalogs: CatalogClient,
  env: Pick<Env, 'nowMs' | 'uuid'>): Evaluators {
  const { all, get, create, change, delete: remove } = collection(catalogs, env, {
    name: 'evaluator',
    parse: evaluatorOf,
    missing: (id) => `The evaluator ${id} does not exist.`,
    max: { count: evaluatorsMax, full: `There may be ${evaluatorsMax} evaluators. Delete some.` },
  })
  return {
    all,
    get,
    create: async (tenant, { name, llm_evaluator: llm }) => {
      if (!name) throw new HeddleError('invalid', 'name: expected a text.')
      if (!llm?.prompt_repo_handle) {
        throw new HeddleError('invalid', 'llm_evaluator: name a prompt in prompt_repo_handle.')
      }
      return create(tenant, { name, body: llm })
    },
    change: (tenant, id, { name, llm_evaluator: llm }) =>
      change(tenant, id, { ...name && { name }, ...llm && { body: llm } }),
    delete: remove,
  }
}

function evaluatorOf({ id, name, bodyJson, createdAtMs, modifiedAtMs }: CatalogRecord): Evaluator {
  return { id, name, llm_evaluator: JSON.parse(bodyJson) as LlmEvaluator, createdMs: createdAtMs,
    modifiedMs: modifiedAtMs }
}

/** As rules use it: the schema and the model are those of the prompt. */
export function asRuleEvaluator({ llm_evaluator: llm }: Evaluator): RuleEvaluator {
  const { prompt_repo_handle: handle, commit_hash_or_tag: ref, variable_mapping: mapping } = llm
  return {
    structured: { hub_ref: ref ? `${handle}:${ref}` : handle ?? null,
      variable_mapping: mapping ?? null },
  }
}

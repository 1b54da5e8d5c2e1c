/** Meaning of the scores of a feedback key: their range or their categories. */

import { isDeepStrictEqual } from 'node:util'

import type { Env } from '../../../../cluster/index.ts'

import type { FeedbackConfig, FeedbackConfigBody } from '../../../api/index.ts'
import { HeddleError, ignoreNotFound } from '../../../errors.ts'
import type { CatalogClient } from '../catalog/catalog-client.ts'
import type { CatalogRecord } from '../catalog/catalog-record.ts'
import { collection } from '../catalog/collection.ts'
import { namedId } from '../catalog/named-id.ts'
import { tenantId } from '../../spans/tenant-id.ts'
import { zonedTextUs } from '../../spans/time.ts'

/** Choice of configurations to list, sorted by key. */
export interface FeedbackConfigQuery {
  readonly keys?: readonly string[]
  readonly nameContains?: string
  readonly limit: number
  readonly offset: number
}

/** The configurations of tenants. All methods throw HeddleError. */
export interface FeedbackConfigs {
  list(tenant: string, query: FeedbackConfigQuery): Promise<
    { readonly configs: readonly FeedbackConfig[]; readonly total: number }
  >
  /** Makes a configuration. One that exists must be the same, or it throws `malformed`. */
  create(tenant: string, body: FeedbackConfigBody): Promise<FeedbackConfig>
  /** Makes a configuration unless there is one. */
  ensure(tenant: string, body: FeedbackConfigBody): Promise<void>
  patch(tenant: string, body: FeedbackConfigBody): Promise<FeedbackConfig>
  /** Deletes configurations. Unknown keys are ignored. */
  delete(tenant: string, keys: readonly string[]): Promise<void>
}

/** The configurations of tenants, kept in catalogs. */
export function feedbackConfigsOver(catalogs: CatalogClient,
  env: Pick<Env, 'nowMs' | 'uuid'>): FeedbackConfigs {
  const configs = collection(catalogs, env, { name: 'feedback_config', parse: configOf,
    sort: { sortBy: 'name', descending: false } })
  return {
    list: async (tenant, { keys, nameContains, limit, offset }) => {
      const { values, total } = await configs.list(tenant, { limit, offset,
        ...keys && { ids: keys.map(idOf) }, ...nameContains !== undefined && { nameContains } })
      return { configs: values.map(configJson), total }
    },
    create: async (tenant, body) => {
      const config = await configs.create(tenant, newConfig(body), {})
      if (isSame(config, body)) return configJson(config)
      throw new HeddleError('malformed',
        `The key ${JSON.stringify(body.feedback_key)} has another configuration: change that.`)
    },
    ensure: async (tenant, body) => {
      await configs.ensure(tenant, [newConfig(body)])
    },
    patch: async (tenant,
      { feedback_key: key, feedback_config: config, is_lower_score_better: lower }) =>
      configJson(await configs.change(tenant, idOf(key), { body: {
        ...config && { feedback_config: config },
        ...typeof lower === 'boolean' && { is_lower_score_better: lower },
      } })),
    delete: async (tenant, keys) => {
      await Promise.all(keys.map((key) => configs.delete(tenant, idOf(key)).catch(ignoreNotFound)))
    },
  }
}

/** The members of a configuration that are stored. */
type Kept = Pick<FeedbackConfig, 'feedback_config' | 'is_lower_score_better'>

interface Config {
  readonly tenant: string
  readonly key: string
  readonly kept: Kept
  readonly modifiedAtMs: number
}

function keptOf(
  { feedback_config: config, is_lower_score_better: lower }: FeedbackConfigBody,
): Kept {
  return { feedback_config: config ?? { type: 'freeform' }, is_lower_score_better: lower ?? false }
}

function newConfig(body: FeedbackConfigBody) {
  return { id: idOf(body.feedback_key), name: body.feedback_key, body: keptOf(body) }
}

/** True if the configuration has all that the body says. */
function isSame({ kept }: Config, body: FeedbackConfigBody): boolean {
  return isDeepStrictEqual(kept.feedback_config, keptOf(body).feedback_config) &&
    kept.is_lower_score_better === (body.is_lower_score_better ?? kept.is_lower_score_better)
}

function idOf(key: string): string {
  return namedId('feedbackConfig', key)
}

function configOf({ name, bodyJson, modifiedAtMs }: CatalogRecord, tenant: string): Config {
  return { tenant, key: name, kept: JSON.parse(bodyJson) as Kept, modifiedAtMs }
}

function configJson({ tenant, key, kept, modifiedAtMs }: Config): FeedbackConfig {
  return { ...kept, feedback_key: key, tenant_id: tenantId(tenant),
    modified_at: zonedTextUs(modifiedAtMs * 1_000) }
}

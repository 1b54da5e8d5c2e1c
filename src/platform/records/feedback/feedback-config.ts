/** What scores of a key of feedback mean: their range or their categories. */

import { isDeepStrictEqual } from 'node:util'

import type { Env } from '../../../../cluster/index.ts'

import { HeddleError, ignoreNotFound } from '../../../errors.ts'
import type { CatalogClient } from '../catalog/catalog-client.ts'
import type { CatalogRecord } from '../catalog/catalog-record.ts'
import { namedId } from '../catalog/named-id.ts'
import { tenantId } from '../../spans/tenant-id.ts'
import { zonedTextUs } from '../../spans/time.ts'

/** A configuration as a client gives it. */
export interface FeedbackConfigBody {
  readonly feedback_key: string
  readonly feedback_config?: Readonly<Record<string, unknown>> | null
  readonly is_lower_score_better?: boolean | null
}

/** Which configurations to list, by key. */
export interface FeedbackConfigQuery {
  readonly keys?: readonly string[]
  readonly nameContains?: string
  readonly limit: number
  readonly offset: number
}

/** A configuration in an answer. */
export type FeedbackConfigJson = Readonly<Record<string, unknown>>

/** The configurations of tenants. All methods throw HeddleError. */
export interface FeedbackConfigs {
  list(tenant: string, query: FeedbackConfigQuery): Promise<
    { readonly configs: readonly FeedbackConfigJson[]; readonly total: number }
  >
  /** One that exists already must be the same, or `malformed`. */
  create(tenant: string, body: FeedbackConfigBody): Promise<FeedbackConfigJson>
  /** Makes it unless there is one. */
  ensure(tenant: string, body: FeedbackConfigBody): Promise<void>
  patch(tenant: string, body: FeedbackConfigBody): Promise<FeedbackConfigJson>
  /** Those that do not exist are ignored. */
  delete(tenant: string, keys: readonly string[]): Promise<void>
}

/** The configurations in catalogs. */
export function feedbackConfigsOver(catalogs: CatalogClient,
  env: Pick<Env, 'nowMs'>): FeedbackConfigs {
  const catalog = (tenant: string) => ({ tenant, collection: 'feedback_config' }) as const
  const made = (body: FeedbackConfigBody) => ({
    id: idOf(body.feedback_key),
    name: body.feedback_key,
    orderMs: env.nowMs(),
    parentId: '',
    metadataJson: '{}',
    bodyJson: JSON.stringify({ feedback_config: body.feedback_config ?? { type: 'freeform' },
      is_lower_score_better: body.is_lower_score_better ?? false }),
  })
  return {
    list: async (tenant, { keys, nameContains, limit, offset }) => {
      const { records, total } = await catalogs.list(catalog(tenant), { sortBy: 'name',
        descending: false, limit, offset, ...keys && { ids: keys.map(idOf) },
        ...nameContains !== undefined && { nameContains } })
      return { configs: records.map((record) => configJson(tenant, record)), total }
    },
    create: async (tenant, body) => {
      const wanted = made(body)
      const record = await catalogs.create(catalog(tenant), wanted, {})
      if (isSame(record, wanted, body)) return configJson(tenant, record)
      throw new HeddleError('malformed',
        `The key ${JSON.stringify(body.feedback_key)} has another configuration: change that.`)
    },
    ensure: async (tenant, body) => {
      await catalogs.ensure(catalog(tenant), [made(body)])
    },
    patch: async (tenant,
      { feedback_key: key, feedback_config: config, is_lower_score_better: lower }) => {
      const bodyJson = JSON.stringify({ ...config && { feedback_config: config },
        ...typeof lower === 'boolean' && { is_lower_score_better: lower } })
      return configJson(tenant, await catalogs.change(catalog(tenant), idOf(key), { bodyJson }))
    },
    delete: async (tenant, keys) => {
      await Promise.all(
        keys.map((key) => catalogs.delete(catalog(tenant), idOf(key)).catch(ignoreNotFound)),
      )
    },
  }
}

/** True if the record has all that the body says. */
function isSame(record: Pick<CatalogRecord, 'bodyJson'>, wanted: Pick<CatalogRecord, 'bodyJson'>,
  body: FeedbackConfigBody): boolean {
  const [known, asked] = [record, wanted].map(({ bodyJson }) =>
    JSON.parse(bodyJson) as Required<FeedbackConfigBody>
  )
  const isLower = body.is_lower_score_better ?? known!.is_lower_score_better
  return isDeepStrictEqual(known!.feedback_config, asked!.feedback_config) &&
    known!.is_lower_score_better === isLower
}

function idOf(key: string): string {
  return namedId('feedbackConfig', key)
}

function configJson(tenant: string, { name, bodyJson, modifiedAtMs }: CatalogRecord) {
  return { ...JSON.parse(bodyJson) as object, feedback_key: name, tenant_id: tenantId(tenant),
    modified_at: zonedTextUs(modifiedAtMs * 1_000) }
}

/** What models cost, as a workspace says. Spans without costs get them by these when they end. */

import type { Env } from '../../../../cluster/index.ts'
import type { CatalogClient } from '../../records/catalog/catalog-client.ts'
import type { CatalogRecord } from '../../records/catalog/catalog-record.ts'
import { HeddleError } from '../../../errors.ts'
import { linearPattern } from '../../spans/linear-pattern.ts'

/** The price of a model as a client gives it. Costs are of one token, in dollars. */
export interface PriceBody {
  readonly name: string
  readonly match_pattern: string
  readonly match_path?: readonly string[] | null
  readonly prompt_cost: number
  readonly completion_cost: number
  readonly prompt_cost_details?: Readonly<Record<string, unknown>> | null
  readonly completion_cost_details?: Readonly<Record<string, unknown>> | null
  readonly provider?: string | null
  readonly start_time?: string | null
}

/** A price in an answer. */
export type PriceJson = Readonly<Record<string, unknown>>

/** The prices of tenants. All methods throw HeddleError. */
export interface Prices {
  list(tenant: string): Promise<readonly PriceJson[]>
  create(tenant: string, body: PriceBody): Promise<PriceJson>
  replace(tenant: string, id: string, body: PriceBody): Promise<PriceJson>
  delete(tenant: string, id: string): Promise<void>
}

const pageRecords = 100
/** Prices that are listed. */
const pricesMax = 1_000
/** Where the name of a model is looked for. */
const usualPath = ['model', 'model_name', 'model_id', 'model_path', 'endpoint_name']

/** The prices in catalogs. */
export function pricesOver(catalogs: CatalogClient, env: Pick<Env, 'nowMs' | 'uuid'>): Prices {
  const catalog = (tenant: string) => ({ tenant, collection: 'price' }) as const
  return {
    list: async (tenant) => {
      const prices: PriceJson[] = []
      for (let offset = 0; offset < pricesMax; offset += pageRecords) {
        const { records, total } = await catalogs.list(catalog(tenant), { sortBy: 'name',
          descending: false, limit: pageRecords, offset })
        prices.push(...records.map(priceJson))
        if (prices.length >= total) break
      }
      return prices
    },
    create: async (tenant, body) =>
      priceJson(
        await catalogs.create(catalog(tenant), { id: env.uuid(), name: body.name,
          orderMs: env.nowMs(), parentId: '', metadataJson: '{}', bodyJson: bodyJson(body) }),
      ),
    replace: async (tenant, id, body) =>
      priceJson(
        await catalogs.change(catalog(tenant), id, { name: body.name, bodyJson: bodyJson(body) }),
      ),
    delete: (tenant, id) => catalogs.delete(catalog(tenant), id),
  }
}

/** All members, so that those of an earlier price do not stay. Throws `invalid`. */
function bodyJson(
  { match_pattern, match_path, prompt_cost, completion_cost, prompt_cost_details = null,
    completion_cost_details = null, provider = null, start_time = null }: PriceBody,
): string {
  if (linearPattern(match_pattern) === undefined) {
    throw new HeddleError('invalid', 'match_pattern: this is no regular expression, or one with ' +
      'back references, look-around or large repeats, which cannot be matched in linear time.')
  }
  return JSON.stringify({ match_pattern, match_path: match_path ?? usualPath, prompt_cost,
    completion_cost, prompt_cost_details, completion_cost_details, provider, start_time })
}

function priceJson({ id, name, bodyJson: body }: CatalogRecord): PriceJson {
  return { id, name, ...JSON.parse(body) as object }
}

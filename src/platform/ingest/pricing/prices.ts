/** Prices of models in a workspace. Spans without costs get them by these when they end. */

import type { Env } from '../../../../cluster/index.ts'
import type { CatalogClient } from '../../records/catalog/catalog-client.ts'
import type { CatalogRecord } from '../../records/catalog/catalog-record.ts'
import type { ModelPrice, PriceBody } from '../../../api/index.ts'
import { collection } from '../../records/catalog/collection.ts'
import { HeddleError } from '../../../errors.ts'
import { linearPattern } from '../../../settings/index.ts'
import { patternWeight, patternWeightMax } from './pattern-weight.ts'

/** A price as it is kept: an earlier server may have checked less. */
export type PriceJson = Readonly<Record<string, unknown>>

/** The prices of tenants. All methods throw HeddleError. */
export interface Prices {
  list(tenant: string): Promise<readonly ModelPrice[]>
  create(tenant: string, body: PriceBody): Promise<ModelPrice>
  replace(tenant: string, id: string, body: PriceBody): Promise<ModelPrice>
  delete(tenant: string, id: string): Promise<void>
}

/** Members in which the name of a model is looked for. */
const usualPath = ['model', 'model_name', 'model_id', 'model_path', 'endpoint_name']

/** The prices in catalogs. */
export function pricesOver(catalogs: CatalogClient, env: Pick<Env, 'nowMs' | 'uuid'>): Prices {
  const prices = collection(catalogs, env, { name: 'price', parse: priceJson,
    sort: { sortBy: 'name', descending: false } })
  return {
    list: prices.all,
    create: async (tenant, body) => prices.create(tenant, { name: body.name, body: costs(body) }),
    replace: async (tenant, id, body) =>
      prices.change(tenant, id, { name: body.name, body: costs(body) }),
    delete: prices.delete,
  }
}

/** All members, so that those of an earlier price do not stay. Throws `invalid`. */
function costs(
  { match_pattern, match_path, prompt_cost, completion_cost, prompt_cost_details = null,
    completion_cost_details = null, provider = null, start_time = null }: PriceBody,
) {
  if (linearPattern(match_pattern) === undefined) {
    throw new HeddleError('invalid', 'match_pattern: this is no regular expression, or one with ' +
      'back references, look-around or large repeats, which cannot be matched in linear time.')
  }
  if (patternWeight(match_pattern) > patternWeightMax) {
    throw new HeddleError('invalid', 'match_pattern: this takes too long to match: use fewer ' +
      'repeats such as {0,9}, which count as copies of the repeated part.')
  }
  return { match_pattern, match_path: match_path ?? usualPath, prompt_cost, completion_cost,
    prompt_cost_details, completion_cost_details, provider, start_time }
}

function priceJson({ id, name, bodyJson }: CatalogRecord): ModelPrice {
  return { id, name, ...JSON.parse(bodyJson) as Omit<ModelPrice, 'id' | 'name'> }
}

/** Comparisons of experiments over the same dataset, kept in catalogs. */

import type { Env } from '../../../../../cluster/index.ts'
import type { CatalogClient } from '../../../records/catalog/catalog-client.ts'
import type { CatalogRecord } from '../../../records/catalog/catalog-record.ts'
import { collection } from '../../../records/catalog/collection.ts'
import type { Uuid } from '../../../spans/span.ts'

/** A comparison of experiments over one dataset, as its catalog keeps it. */
export interface Comparison {
  readonly id: Uuid
  readonly name: string
  readonly description: string | null
  readonly dataset: Uuid
  readonly experiments: readonly Uuid[]
  /** JSON text of an object. */
  readonly extraJson: string
  readonly createdMs: number
  readonly modifiedMs: number
}

/** A new comparison; without an id it gets a new one. */
export type NewComparison = Omit<Comparison, 'id' | 'createdMs' | 'modifiedMs'> & {
  readonly id?: Uuid
}

/** Selects the comparisons of one dataset to list, the newest first. */
export interface ComparisonQuery {
  readonly dataset: Uuid
  readonly ids?: readonly Uuid[]
  readonly name?: string
  readonly nameContains?: string
  readonly limit: number
  readonly offset: number
}

/** The comparisons of tenants. All methods throw HeddleError. */
export interface Comparisons {
  /** `exists` if the name or the id is taken. */
  create(tenant: string, comparison: NewComparison): Promise<Comparison>
  list(tenant: string, query: ComparisonQuery): Promise<
    { readonly comparisons: readonly Comparison[]; readonly total: number }
  >
  get(tenant: string, id: Uuid): Promise<Comparison>
  delete(tenant: string, id: Uuid): Promise<void>
}

interface ComparisonBody {
  readonly description: string | null
  readonly experiments: readonly Uuid[]
  readonly extra: string
}

/** The comparisons over the catalogs of all tenants. */
export function comparisonsOver(catalogs: CatalogClient,
  env: Pick<Env, 'nowMs' | 'uuid'>): Comparisons {
  const comparisons = collection(catalogs, env, { name: 'comparison', parse: comparisonOf,
    missing: () => 'Comparison not found.', sort: { sortBy: 'created', descending: true } })
  return {
    create: (tenant, { id, name, dataset, description, experiments, extraJson }) =>
      comparisons.create(tenant, { ...id && { id }, name, parentId: dataset,
        body: { description, experiments, extra: extraJson } satisfies ComparisonBody }),
    list: async (tenant, { dataset, ...query }) => {
      const { values, total } = await comparisons.list(tenant, { ...query, parentIds: [dataset] })
      return { comparisons: values, total }
    },
    get: comparisons.get,
    delete: comparisons.delete,
  }
}

function comparisonOf(record: CatalogRecord): Comparison {
  const { id, name, parentId, createdAtMs, modifiedAtMs, bodyJson } = record
  const { description, experiments, extra } = JSON.parse(bodyJson) as ComparisonBody
  return { id, name, description, dataset: parentId, experiments, extraJson: extra,
    createdMs: createdAtMs, modifiedMs: modifiedAtMs }
}

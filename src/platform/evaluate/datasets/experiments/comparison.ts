/** Comparisons of experiments over the same dataset, kept in catalogs. */

import type { Env } from '../../../../../cluster/index.ts'
import { HeddleError } from '../../../../errors.ts'
import type { CatalogClient } from '../../../records/catalog/catalog-client.ts'
import type { CatalogRecord } from '../../../records/catalog/catalog-record.ts'
import type { Uuid } from '../../../spans/span.ts'

/** A comparison. */
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

/** What a caller says of a new comparison. */
export type NewComparison = Omit<Comparison, 'id' | 'createdMs' | 'modifiedMs'> & {
  readonly id?: Uuid
}

/** Which comparisons to list, the newest first. */
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
  const catalog = (tenant: string) => ({ tenant, collection: 'comparison' }) as const
  return {
    create: async (tenant, { id, name, dataset, description, experiments, extraJson }) =>
      comparisonOf(
        await catalogs.create(catalog(tenant), { id: id ?? env.uuid(), name, orderMs: env.nowMs(),
          parentId: dataset, metadataJson: '{}', bodyJson: JSON.stringify(
            { description, experiments, extra: extraJson } satisfies ComparisonBody,
          ) }),
      ),
    list: async (tenant, { dataset, ...query }) => {
      const { records, total } = await catalogs.list(catalog(tenant), { ...query,
        parentIds: [dataset], sortBy: 'created', descending: true })
      return { comparisons: records.map(comparisonOf), total }
    },
    get: async (tenant, id) => {
      const [record] = await catalogs.get(catalog(tenant), [id])
      if (record !== undefined) return comparisonOf(record)
      throw new HeddleError('not_found', 'Comparison not found.')
    },
    delete: (tenant, id) => catalogs.delete(catalog(tenant), id),
  }
}

function comparisonOf(record: CatalogRecord): Comparison {
  const { id, name, parentId, createdAtMs, modifiedAtMs, bodyJson } = record
  const { description, experiments, extra } = JSON.parse(bodyJson) as ComparisonBody
  return { id, name, description, dataset: parentId, experiments, extraJson: extra,
    createdMs: createdAtMs, modifiedMs: modifiedAtMs }
}

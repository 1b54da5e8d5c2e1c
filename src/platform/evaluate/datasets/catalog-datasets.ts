/** The datasets of tenants, kept in catalogs. */

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import { withoutUndefined } from '../../../json/index.ts'
import type { CatalogClient } from '../../records/catalog/catalog-client.ts'
import type { CatalogRecord, RecordChange } from '../../records/catalog/catalog-record.ts'
import { metadataSought } from '../../records/catalog/record-query.ts'
import type { RecordQuery } from '../../records/catalog/record-query.ts'
import type { Dataset, DatasetCatalog, DatasetChange, DatasetQuery } from './dataset.ts'

/** Members of a body that name versions begin so: each is changed by itself. */
const tagPrefix = 'tag:'
/** Names of versions that a dataset may have. */
const tagsMax = 1_000
/** Records of a page of a catalog. */
const pageRecords = 100

/** The members of a dataset that are the body of its record. */
interface DatasetBody {
  readonly description?: string | null
  readonly dataType?: Dataset['dataType']
  readonly inputs?: string | null
  readonly outputs?: string | null
  readonly transformations?: string | null
  readonly baseline?: string | null
  readonly count?: number
  readonly head?: string | null
  readonly erasedBefore?: string | null
  readonly upload?: string | null
  readonly [tag: `tag:${string}`]: string | null
}

/** Datasets over the catalogs of all tenants. */
export function datasetsIn(catalogs: CatalogClient,
  env: Pick<Env, 'nowMs' | 'uuid'>): DatasetCatalog {
  const catalog = (tenant: string) => ({ tenant, collection: 'dataset' }) as const
  const change = async (tenant: string, id: string, changed: RecordChange) =>
    datasetOf(await catalogs.change(catalog(tenant), id, changed))
  const list = async (tenant: string, query: DatasetQuery, page: Pick<RecordQuery,
    | 'limit'
    | 'offset'>) => catalogs.list(catalog(tenant), { ...recordQuery(query), ...page })
  return {
    get: async (tenant, ids) => (await catalogs.get(catalog(tenant), ids)).map(datasetOf),
    find: async (tenant, query) => {
      const { dataTypes, limit, offset } = query
      if (dataTypes === undefined) {
        const { records, total } = await list(tenant, query, { limit, offset })
        return { datasets: records.map(datasetOf), total }
      }
      const found: Dataset[] = []
      for (let at = 0;; at += pageRecords) {
        const { records } = await list(tenant, query, { limit: pageRecords, offset: at })
        found.push(...records.map(datasetOf).filter((each) => dataTypes.includes(each.dataType)))
        if (records.length < pageRecords) break
      }
      return { datasets: found.slice(offset, offset + limit), total: found.length }
    },
    create: async (tenant, dataset) =>
      datasetOf(
        await catalogs.create(catalog(tenant), { orderMs: env.nowMs(), parentId: '',
          metadataJson: '{}', bodyJson: '{}', ...changeOf(dataset), name: dataset.name,
          id: dataset.id ?? env.uuid() }),
      ),
    patch: (tenant, id, changed) => change(tenant, id, changeOf(changed)),
    delete: (tenant, id) => catalogs.delete(catalog(tenant), id),
    tag: async (tenant, id, tag, version) => {
      const [record] = await catalogs.get(catalog(tenant), [id])
      const { tags = {} } = record === undefined ? {} : datasetOf(record)
      if (version !== null && !Object.hasOwn(tags, tag) && Object.keys(tags).length >= tagsMax) {
        throw new HeddleError('full', `A dataset may have ${tagsMax} tags.`)
      }
      return change(tenant, id, { bodyJson: JSON.stringify({ [tagPrefix + tag]: version }) })
    },
    charge: async (tenant, id, heldBytesAdded) => {
      await change(tenant, id, { heldBytesAdded })
    },
    publish: async ({ tenant, dataset, after, version, count, erases }) => {
      await change(tenant, dataset, { expected: { head: after }, bodyJson: JSON.stringify(
        { head: version, count, ...erases && { erasedBefore: version } } satisfies DatasetBody,
      ) })
    },
  }
}

/** The dataset of a record. */
function datasetOf(record: CatalogRecord): Dataset {
  const { id, name, createdAtMs, modifiedAtMs, metadataJson, bodyJson } = record
  const body = JSON.parse(bodyJson) as DatasetBody
  const tags = Object.entries(body).flatMap(([member, version]) =>
    member.startsWith(tagPrefix) && typeof version === 'string'
      ? [[member.slice(tagPrefix.length), version] as const]
      : []
  )
  return {
    id,
    name,
    description: body.description ?? null,
    dataType: body.dataType ?? 'kv',
    inputsSchema: body.inputs ?? null,
    outputsSchema: body.outputs ?? null,
    transformations: body.transformations ?? null,
    metadataJson,
    baseline: body.baseline ?? null,
    createdMs: createdAtMs,
    modifiedMs: modifiedAtMs,
    count: body.count ?? 0,
    head: body.head ?? null,
    erasedBefore: body.erasedBefore ?? null,
    tags: Object.fromEntries(tags),
    upload: body.upload ?? null,
  }
}

/** Change of the record that a change of its dataset makes; absent members are left out. */
function changeOf(change: DatasetChange): RecordChange {
  const { name, description, dataType, inputsSchema: inputs, outputsSchema: outputs,
    transformations, metadataJson, baseline, upload } = change
  const body = withoutUndefined<DatasetBody>({ description, dataType, inputs, outputs,
    transformations, baseline, upload })
  return withoutUndefined<RecordChange>({ name, metadataJson,
    bodyJson: Object.keys(body).length === 0 ? undefined : JSON.stringify(body) })
}

function recordQuery(
  { ids, name, nameContains, metadataJson, sortBy, descending, limit, offset }: DatasetQuery,
): RecordQuery {
  return {
    sortBy,
    descending,
    limit,
    offset,
    ...ids && { ids },
    ...name !== undefined && { name },
    ...nameContains !== undefined && { nameContains },
    ...metadataJson !== undefined && { metadata: metadataSought(metadataJson) },
  }
}

/** Routes of datasets: their names, their schemas and their metadata. */

import type { FastifyReply } from 'fastify'

import { createDataset, deleteDataset, getDataset, listDatasets, listDatasetsV2,
  patchDataset } from '../../../api/index.ts'
import type { Dataset as DatasetJson, Query } from '../../../api/index.ts'
import { limitConcurrency } from '../../../../cluster/index.ts'
import { datasetChanged, datasetJson, nameIn } from '../../../platform/index.ts'
import type { Dataset, DatasetQuery } from '../../../platform/index.ts'
import { sendRows } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { cursorParts, cursorText } from '../../schema/cursor.ts'
import type { PlatformParts } from '../platform-route.ts'
import { filtersOf } from '../sessions/index.ts'
import { datasetOf } from './dataset-of.ts'

/** Datasets whose experiments are counted at once. */
const countedAtOnce = 4

/** Adds the routes of v1 that create, list, read, change and delete datasets. */
export function datasetRoutes(app: App, parts: PlatformParts): void {
  const { datasets } = parts.platform

  serve(app, createDataset, async ({ body, caller: { tenant } }) => {
    const made = await datasets.create(tenant, { ...datasetChanged(body), name: nameIn(body.name),
      ...typeof body.id === 'string' && { id: body.id } })
    return datasetJson(tenant, made, { count: 0, lastMs: null })
  })

  serve(app, listDatasets, async ({ query, caller: { tenant } }, reply) => {
    const { limit = 100, offset = 0, sort_by_desc: descending = true } = query
    const { datasets: found, total } = await datasets.find(tenant, { ...questionOf(query),
      descending, limit, offset })
    reply.header('x-pagination-total', total)
    return sendDatasets(parts, tenant, found, reply)
  })

  serve(app, getDataset,
    async ({ params, caller }) =>
      jsonOf(parts, caller.tenant, await datasetOf(parts, { params, caller })))

  serve(app, patchDataset, async ({ params, caller, body }) => {
    const { tenant } = caller
    const { id } = await datasetOf(parts, { params, caller })
    return jsonOf(parts, tenant, await datasets.patch(tenant, id, datasetChanged(body)))
  })

  serve(app, deleteDataset, async ({ params, caller }) => {
    const { id } = await datasetOf(parts, { params, caller })
    await datasets.delete(caller.tenant, id)
    return { message: 'The dataset is deleted.' }
  })
}

/** Adds the list of v2. */
export function datasetRoutesV2(app: App, parts: PlatformParts): void {
  serve(app, listDatasetsV2, async ({ query, caller: { tenant } }) => {
    const { cursor, sort_order: order = 'desc' } = query
    const limit = query.page_size ?? query.limit ?? 20
    const offset = cursor === undefined ? 0 : Number(cursorParts(cursor)[0]) || 0
    const { datasets, total } = await parts.platform.datasets.find(tenant, {
      ...questionOf(query),
      descending: order.toLowerCase() !== 'asc',
      limit,
      offset,
    })
    const end = offset + datasets.length
    return { items: await jsonsOf(parts, tenant, datasets),
      next_cursor: end < total && datasets.length > 0 ? cursorText([end]) : null }
  })
}

function questionOf(
  query: Query<typeof listDatasets> | Query<typeof listDatasetsV2>,
): Omit<DatasetQuery, 'descending' | 'limit' | 'offset'> {
  const { sort_by: sortBy, data_type: dataTypes } = query
  return {
    ...filtersOf(query),
    sortBy: sortBy === 'name' ? 'name' : sortBy === 'modified_at' ? 'modified' : 'created',
    ...dataTypes && { dataTypes },
  }
}

async function sendDatasets(parts: PlatformParts, tenant: string, datasets: readonly Dataset[],
  reply: FastifyReply): Promise<FastifyReply> {
  return sendRows(reply, await jsonsOf(parts, tenant, datasets), (each) => JSON.stringify(each))
}

function jsonsOf(parts: PlatformParts, tenant: string, datasets: readonly Dataset[]) {
  const inTurn = limitConcurrency(countedAtOnce)
  return Promise.all(datasets.map((each) => inTurn(() => jsonOf(parts, tenant, each))))
}

/** The dataset with its experiments, which are the projects that name it. */
export async function jsonOf({ platform }: PlatformParts, tenant: string,
  dataset: Dataset): Promise<DatasetJson> {
  const { projects: [newest], total } = await platform.projects.find(tenant, {
    referenceDatasetIds: [dataset.id],
    sortBy: 'start_time',
    descending: true,
    limit: 1,
    offset: 0,
  })
  return datasetJson(tenant, dataset, { count: total, lastMs: newest?.startMs ?? null })
}

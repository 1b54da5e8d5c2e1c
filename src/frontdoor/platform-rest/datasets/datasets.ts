/** Routes of datasets: their names, their schemas and their metadata. */

import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { Static } from 'typebox'

import { limitConcurrency } from '../../../../cluster/index.ts'
import { datasetChanged, datasetJson, nameIn } from '../../../platform/index.ts'
import type { Dataset, DatasetQuery } from '../../../platform/index.ts'
import { sendRows } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { cursorParts, cursorText } from '../../schema/cursor.ts'
import { Json, Nullable, Offset, Uuid as UuidText } from '../../schema/json.ts'
import { platformRoute } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { filtersOf } from '../sessions/index.ts'
import { datasetOf, IdPath } from './dataset-of.ts'

const text = (maxLength: number) => Type.Optional(Nullable(Type.String({ maxLength })))
const DatasetFields = {
  name: text(1_000),
  description: text(10_000),
  data_type: text(20),
  inputs_schema_definition: Type.Optional(Json()),
  outputs_schema_definition: Type.Optional(Json()),
  transformations: Type.Optional(Nullable(Type.Array(Json(), { maxItems: 100 }))),
  extra: Type.Optional(Json()),
  metadata: Type.Optional(Json()),
  baseline_experiment_id: Type.Optional(Nullable(UuidText())),
}
const MakeDataset = Type.Object({ ...DatasetFields, id: Type.Optional(Nullable(UuidText())) })
const PatchDataset = Type.Object(DatasetFields)
const listFields = {
  id: Type.Optional(Type.Array(UuidText(), { maxItems: 1_000 })),
  name: Type.Optional(Type.String({ maxLength: 1_000 })),
  name_contains: Type.Optional(Type.String({ maxLength: 1_000 })),
  metadata: Type.Optional(Type.String({ maxLength: 16 * 1024 })),
  data_type: Type.Optional(Type.Array(Type.String({ maxLength: 20 }), { maxItems: 10 })),
  sort_by: Type.Optional(Type.String({ maxLength: 100 })),
}
const ListDatasets = Type.Object({
  ...listFields,
  sort_by_desc: Type.Optional(Type.Boolean()),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100 })),
  offset: Type.Optional(Offset()),
})
const ListDatasetsV2 = Type.Object({
  ...listFields,
  sort_order: Type.Optional(Type.String({ maxLength: 10 })),
  cursor: Type.Optional(Type.String({ maxLength: 8_192 })),
  page_size: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
})

/** Datasets whose experiments are counted at once. */
const countedAtOnce = 4

/** Adds the routes below `/api/v1`. */
export function datasetRoutes(app: App, parts: PlatformParts): void {
  const { datasets } = parts.platform

  app.post('/datasets', platformRoute('change', { body: MakeDataset }),
    async ({ body, caller: { tenant } }) => {
      const made = await datasets.create(tenant, { ...datasetChanged(body), name: nameIn(body.name),
        ...typeof body.id === 'string' && { id: body.id } })
      return datasetJson(tenant, made, { count: 0, lastMs: null })
    })

  app.get('/datasets', platformRoute('read', { querystring: ListDatasets }),
    async ({ query, caller: { tenant } }, reply) => {
      const { limit = 100, offset = 0, sort_by_desc: descending = true } = query
      const { datasets: found, total } = await datasets.find(tenant, { ...questionOf(query),
        descending, limit, offset })
      reply.header('x-pagination-total', total)
      return sendDatasets(parts, tenant, found, reply)
    })

  app.get('/datasets/:id', platformRoute('read', { params: IdPath }),
    async ({ params, caller }) =>
      jsonOf(parts, caller.tenant, await datasetOf(parts, { params, caller })))

  app.patch('/datasets/:id', platformRoute('change', { params: IdPath, body: PatchDataset }),
    async ({ params, caller, body }) => {
      const { tenant } = caller
      const { id } = await datasetOf(parts, { params, caller })
      return jsonOf(parts, tenant, await datasets.patch(tenant, id, datasetChanged(body)))
    })

  app.delete('/datasets/:id', platformRoute('change', { params: IdPath }),
    async ({ params, caller }) => {
      const { id } = await datasetOf(parts, { params, caller })
      await datasets.delete(caller.tenant, id)
      return { message: 'The dataset is deleted.' }
    })
}

/** Adds the list of v2. */
export function datasetRoutesV2(app: App, parts: PlatformParts): void {
  app.get('/datasets', platformRoute('read', { querystring: ListDatasetsV2 }),
    async ({ query, caller: { tenant } }) => {
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
  query: Static<typeof ListDatasets> | Static<typeof ListDatasetsV2>,
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
  dataset: Dataset): Promise<Record<string, unknown>> {
  const { projects: [newest], total } = await platform.projects.find(tenant, {
    referenceDatasetIds: [dataset.id],
    sortBy: 'start_time',
    descending: true,
    limit: 1,
    offset: 0,
  })
  return datasetJson(tenant, dataset, { count: total, lastMs: newest?.startMs ?? null })
}

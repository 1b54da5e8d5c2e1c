/** Routes of annotation queues. */

import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'

import { reviewerId, tenantId, timeTextUs } from '../../../platform/index.ts'
import type { Queue, Uuid } from '../../../platform/index.ts'
import type { App } from '../../http/route.ts'
import { Json, JsonObject, Nullable, Offset, Uuid as UuidText } from '../../schema/json.ts'
import { requireId } from '../path-id.ts'
import { platformRoute } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'

const text = (maxLength: number) => Type.Optional(Nullable(Type.String({ maxLength })))

const QueueFields = {
  description: text(10_000),
  default_dataset: Type.Optional(Nullable(UuidText())),
  num_reviewers_per_item: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 100 }))),
  enable_reservations: Type.Optional(Nullable(Type.Boolean())),
  reservation_minutes: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 10_080 }))),
  reviewer_access_mode: text(20),
  rubric_instructions: text(20_000),
  rubric_items: Type.Optional(Nullable(
    Type.Array(JsonObject({ 'x-max-characters': 16 * 1024 }), { maxItems: 100 }),
  )),
  metadata: Type.Optional(Nullable(JsonObject({ 'x-max-characters': 48 * 1024 }))),
}
const MakeQueue = Type.Object({ name: Type.String({ minLength: 1, maxLength: 1_000 }),
  id: Type.Optional(Nullable(UuidText())), created_at: Type.Optional(Json()), ...QueueFields })
const PatchQueue = Type.Object({
  name: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 1_000 }))),
  ...QueueFields,
})
const ListQueues = Type.Object({
  ids: Type.Optional(Type.Array(UuidText(), { maxItems: 200 })),
  name: Type.Optional(Type.String({ maxLength: 1_000 })),
  name_contains: Type.Optional(Type.String({ maxLength: 1_000 })),
  dataset_id: Type.Optional(UuidText()),
  sort_by: Type.Optional(Type.String({ maxLength: 100 })),
  sort_by_desc: Type.Optional(Type.Boolean()),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100 })),
  offset: Type.Optional(Offset()),
})
const IdPath = Type.Object({ id: Type.String() })

/** Adds the routes below `/api/v1`. */
export function queueRoutes(app: App, { platform: { queues } }: PlatformParts): void {
  app.post('/annotation-queues', platformRoute('change', { body: MakeQueue }),
    async ({ body, caller: { tenant } }) => {
      const { id, name, ...fields } = body
      const queue = await queues.create(tenant, { ...fields, name, ...id && { id } })
      const { rubric_instructions: rubric, ...json } = queueJson(tenant, queue)
      // The product leaves it out here, and has null in what is read: clients tell them apart.
      return { ...json, ...rubric !== null && { rubric_instructions: rubric } }
    })

  app.get('/annotation-queues', platformRoute('read', { querystring: ListQueues }),
    async ({ query, caller: { tenant } }, reply) => {
      const { ids, name, name_contains: part, dataset_id: dataset, limit = 100, offset = 0,
        sort_by: sortBy, sort_by_desc: descending = true } = query
      const { queues: found, total } = await queues.list(tenant, { limit, offset, descending,
        sortBy: sortBy === 'name' ? 'name' : 'created', ...ids && { ids }, ...name && { name },
        ...part && { nameContains: part }, ...dataset && { dataset } })
      reply.header('x-pagination-total', total)
      return found.map((queue) => queueJson(tenant, queue))
    })

  app.get('/annotation-queues/:id', platformRoute('read', { params: IdPath }),
    async ({ params, caller: { tenant } }) =>
      queueJson(tenant, await queues.get(tenant, requireId(params.id, 'annotation queue'))))

  app.patch('/annotation-queues/:id', platformRoute('change', { params: IdPath, body: PatchQueue }),
    async ({ params, body: { name, ...fields }, caller: { tenant } }) => {
      const id = requireId(params.id, 'annotation queue')
      return queueJson(tenant, await queues.patch(tenant, id, { ...fields, ...name && { name } }))
    })

  app.delete('/annotation-queues/:id', platformRoute('change', { params: IdPath }),
    async ({ params, caller: { tenant } }) => {
      await queues.delete(tenant, requireId(params.id, 'annotation queue'))
      return { message: 'The annotation queue is deleted.' }
    })

  app.get('/annotation-queues/:id/queues', platformRoute('read', { params: IdPath }),
    async ({ params, caller: { tenant } }) => {
      const found = await queues.queuesWith(tenant, requireId(params.id, 'run'))
      return found.map((queue) => queueJson(tenant, queue))
    })
}

/** The reviewer that a caller is. */
export function reviewerOf({ caller: { identity } }: Pick<FastifyRequest, 'caller'>): Uuid {
  switch (identity.kind) {
    case 'key':
      return reviewerId(['key', identity.hash])
    case 'user':
      return reviewerId(['user', identity.tenant, identity.id])
    default:
      return reviewerId([identity.kind])
  }
}

/** Milliseconds as clients read them. */
export function timeJson(ms: number): string {
  return `${timeTextUs(ms * 1_000)}Z`
}

function queueJson(tenant: string, queue: Queue): Record<string, unknown> {
  const { createdMs, modifiedMs, items, ...fields } = queue
  return { ...fields, tenant_id: tenantId(tenant), queue_type: 'single', total_runs: items,
    assigned_reviewers: [], run_rule_id: null, source_rule_id: null,
    created_at: timeJson(createdMs), updated_at: timeJson(modifiedMs) }
}

/** Routes of annotation queues. */

import type { FastifyRequest } from 'fastify'

import { createQueue, deleteQueue, getQueue, listQueues, listQueuesOfRun,
  patchQueue } from '../../../api/index.ts'
import type { Queue as QueueJson } from '../../../api/index.ts'
import { reviewerId, tenantId, timeTextUs } from '../../../platform/index.ts'
import type { Queue, Uuid } from '../../../platform/index.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { requireId } from '../path-id.ts'
import type { PlatformParts } from '../platform-route.ts'

/** Adds the routes that create, list, read, change and delete queues. */
export function queueRoutes(app: App, { platform: { queues } }: PlatformParts): void {
  serve(app, createQueue, async ({ body, caller: { tenant } }) => {
    const { id, name, ...fields } = body
    const queue = await queues.create(tenant, { ...fields, name, ...id && { id } })
    const { rubric_instructions: rubric, ...json } = queueJson(tenant, queue)
    // The product leaves it out here, and has null in what is read: clients tell them apart.
    return { ...json, ...rubric !== null && { rubric_instructions: rubric } }
  })

  serve(app, listQueues, async ({ query, caller: { tenant } }, reply) => {
    const { ids, name, name_contains: part, dataset_id: dataset, limit = 100, offset = 0,
      sort_by: sortBy, sort_by_desc: descending = true } = query
    const { queues: found, total } = await queues.list(tenant, { limit, offset, descending,
      sortBy: sortBy === 'name' ? 'name' : 'created', ...ids && { ids }, ...name && { name },
      ...part && { nameContains: part }, ...dataset && { dataset } })
    reply.header('x-pagination-total', total)
    return found.map((queue) => queueJson(tenant, queue))
  })

  serve(app, getQueue,
    async ({ params, caller: { tenant } }) =>
      queueJson(tenant, await queues.get(tenant, requireId(params.id, 'annotation queue'))))

  serve(app, patchQueue, async ({ params, body: { name, ...fields }, caller: { tenant } }) => {
    const id = requireId(params.id, 'annotation queue')
    return queueJson(tenant, await queues.patch(tenant, id, { ...fields, ...name && { name } }))
  })

  serve(app, deleteQueue, async ({ params, caller: { tenant } }) => {
    await queues.delete(tenant, requireId(params.id, 'annotation queue'))
    return { message: 'The annotation queue is deleted.' }
  })

  serve(app, listQueuesOfRun, async ({ params, caller: { tenant } }) => {
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

function queueJson(tenant: string, queue: Queue): QueueJson {
  const { createdMs, modifiedMs, items, ...fields } = queue
  return { ...fields, tenant_id: tenantId(tenant), queue_type: 'single', total_runs: items,
    assigned_reviewers: [], run_rule_id: null, source_rule_id: null,
    created_at: timeJson(createdMs), updated_at: timeJson(modifiedMs) }
}

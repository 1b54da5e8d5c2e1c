/** Routes of comparisons of experiments. */

import type { FastifyReply } from 'fastify'

import { createComparison, deleteComparison, listComparisons } from '../../../api/index.ts'
import type { Comparison as ComparisonJson, Query } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { tenantId, zonedTextUs } from '../../../platform/index.ts'
import type { Comparison, Platform, Uuid } from '../../../platform/index.ts'
import { sendRows } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { requireId } from '../path-id.ts'
import { projectsOf } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { datasetOf } from './dataset-of.ts'

/** Adds the routes that create, list and delete comparisons. */
export function comparisonRoutes(app: App, { platform, env, ...parts }: PlatformParts): void {
  const { comparisons } = platform
  serve(app, createComparison, async ({ body, caller }) => {
    const { tenant } = caller
    const projects = await projectsOf(platform, { caller }, body.experiment_ids)
    const dataset = body.reference_dataset_id ?? projects[0]?.referenceDatasetId ?? null
    const isWhole = projects.length === new Set(body.experiment_ids).size
    if (dataset === null || !isWhole
      || projects.some(({ referenceDatasetId }) => referenceDatasetId !== dataset)) {
      throw new HeddleError('invalid', 'experiment_ids: expected experiments of one dataset.')
    }
    const made = await comparisons.create(tenant, {
      name: body.name ?? `Comparison ${env.uuid7().slice(-8)}`,
      description: body.description ?? null,
      dataset,
      experiments: body.experiment_ids,
      extraJson: JSON.stringify(body.extra ?? {}),
      ...typeof body.id === 'string' && { id: body.id },
    })
    return jsonOf(platform, tenant, made)
  })

  serve(app, listComparisons, async (request, reply) => {
    const { caller: { tenant }, query } = request
    const { id: dataset } = await datasetOf({ platform, env, ...parts }, request)
    return sendComparisons(platform, reply, { ...query, tenant, dataset })
  })

  serve(app, deleteComparison, async ({ params, caller: { tenant } }) => {
    const { id } = await comparisons.get(tenant, requireId(params.id, 'comparison'))
    await comparisons.delete(tenant, id)
    return { message: 'The comparison is deleted.' }
  })
}

/** Sends the comparisons of a dataset. */
export async function sendComparisons(platform: Platform, reply: FastifyReply,
  { tenant, dataset, id: ids, name, name_contains: nameContains, limit = 100, offset = 0 }: Query<
    typeof listComparisons
  > & { readonly tenant: string; readonly dataset: Uuid }): Promise<FastifyReply> {
  const { comparisons: found, total } = await platform.comparisons.list(tenant, { dataset, limit,
    offset, ...ids && { ids }, ...name !== undefined && { name },
    ...nameContains !== undefined && { nameContains } })
  reply.header('x-pagination-total', total)
  const rows = await Promise.all(found.map((each) => jsonOf(platform, tenant, each)))
  return sendRows(reply, rows, (row) => JSON.stringify(row))
}

/** Experiments that were deleted are missing. */
async function jsonOf({ projects }: Platform, tenant: string, comparison: Comparison) {
  return comparisonJson(tenant, comparison, await projects.get(tenant, comparison.experiments))
}

function comparisonJson(tenant: string, comparison: Comparison,
  experiments: readonly { readonly id: string; readonly name: string }[]): ComparisonJson {
  const { id, name, description, dataset, extraJson, createdMs, modifiedMs } = comparison
  return {
    id,
    name,
    description,
    tenant_id: tenantId(tenant),
    reference_dataset_id: dataset,
    created_at: zonedTextUs(createdMs * 1_000),
    modified_at: zonedTextUs(modifiedMs * 1_000),
    extra: JSON.parse(extraJson) as ComparisonJson['extra'],
    experiments_info: experiments.map((each) => ({ id: each.id, name: each.name })),
    feedback_stats: {},
  }
}

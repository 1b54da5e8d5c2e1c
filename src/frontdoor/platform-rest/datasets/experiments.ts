/** Routes that show what experiments made of examples, side by side. */

import type { FastifyReply, FastifyRequest } from 'fastify'

import { listDatasetRuns, listExperimentRuns } from '../../../api/index.ts'
import type { DatasetRunsBody } from '../../../api/index.ts'
import type { Dataset, ExamplesSlice } from '../../../platform/index.ts'
import { leftSignal, sendJson } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { cursorParts, cursorText } from '../../schema/cursor.ts'
import { attachmentLinks } from '../links.ts'
import type { PlatformParts } from '../platform-route.ts'
import { datasetOf } from './dataset-of.ts'

/** Examples of a page by default. */
const pageExamples = 20

interface Options {
  readonly projects: readonly string[]
  readonly comparison: string | null | undefined
  readonly ids?: readonly string[]
  readonly from: { readonly at: number; readonly skip: number }
  readonly limit: number
  readonly version: 1 | 2
  readonly select?: readonly string[]
  readonly asOf?: string
}

/** Adds the route below `/api/v1`. */
export function datasetRunRoutes(app: App, parts: PlatformParts): void {
  serve(app, listDatasetRuns, async (request, reply) => {
    const { texts } = await page(parts, request, reply, optionsOf(request.body))
    return sendJson(reply, `[${texts.join(',')}]`)
  })
}

/** Adds the route below `/api/v2`. */
export function datasetRunRoutesV2(app: App, parts: PlatformParts): void {
  serve(app, listExperimentRuns, async (request, reply) => {
    const { experiment_ids: projects, example_ids: examples, selects, page_size: size, cursor,
      limit: other, comparative_experiment_id: comparison } = request.body
    const { texts, next } = await page(parts, request, reply, {
      projects: projects ?? [],
      comparison,
      from: { at: typeof cursor === 'string' ? Number(cursorParts(cursor)[0]) || 0 : 0, skip: 0 },
      limit: size ?? other ?? pageExamples,
      version: 2,
      ...examples && { ids: examples },
      ...selects && { select: selects },
    })
    const after = next === undefined ? null : cursorText([next.at])
    return sendJson(reply, `{"items":[${texts.join(',')}],"next_cursor":${JSON.stringify(after)}}`)
  })
}

async function page(parts: PlatformParts,
  request: FastifyRequest<{ Params: { readonly id: string } }>, reply: FastifyReply,
  options: Options): Promise<ExamplesSlice> {
  const dataset = await datasetOf(parts, request)
  return pageOf(parts, request, reply, { ...options, tenant: request.caller.tenant, dataset })
}

/** A page of the runs of a dataset that anybody reads: experiments of others are left out. */
export async function sharedRunPage(parts: PlatformParts, request: FastifyRequest,
  reply: FastifyReply,
  { tenant, dataset, body }: { readonly tenant: string; readonly dataset: Dataset;
    readonly body: DatasetRunsBody }): Promise<FastifyReply> {
  const { texts } = await pageOf(parts, request, reply, { ...optionsOf(body), tenant, dataset,
    isShared: true })
  return sendJson(reply, `[${texts.join(',')}]`)
}

function optionsOf(
  { session_ids: projects, offset = 0, limit = pageExamples, as_of: asOf,
    comparative_experiment_id: comparison }: DatasetRunsBody,
): Options {
  return { projects: projects ?? [], comparison, from: { at: 0, skip: offset },
    limit: limit ?? pageExamples, version: 1, ...typeof asOf === 'string' && { asOf } }
}

/** Without experiments, those of the comparison, or the newest ones of the dataset. */
async function pageOf({ platform }: PlatformParts, request: FastifyRequest, reply: FastifyReply,
  { tenant, dataset, isShared = false, projects: asked, comparison, ...options }: Options & {
    readonly tenant: string
    readonly dataset: Dataset
    readonly isShared?: boolean
  }): Promise<ExamplesSlice> {
  const compared = asked.length === 0 && typeof comparison === 'string'
    ? (await platform.comparisons.get(tenant, comparison)).experiments
    : asked
  const projects = compared.length > 0
    ? (await platform.projects.get(tenant, compared)).filter(({ referenceDatasetId }) =>
      !isShared || referenceDatasetId === dataset.id
    )
    : (await platform.projects.find(tenant, { referenceDatasetIds: [dataset.id],
      sortBy: 'start_time', descending: true, limit: 5, offset: 0 })).projects
  return platform.query.experimentRuns({ ...options, tenant, dataset, projects, newestFirst: false,
    shown: { outputs: true, metadata: true, files: true },
    links: await attachmentLinks(platform, request) }, { signal: leftSignal(reply) })
}

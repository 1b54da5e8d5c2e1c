/** Routes with which anybody reads what experiments made of a shared dataset. */

import type { FastifyReply, FastifyRequest } from 'fastify'

import { getSharedRun, listProjectsOfSeveral, listSharedComparisons, listSharedDatasetRuns,
  listSharedExampleRuns, listSharedFeedback, listSharedProjects, querySharedRuns,
  readSharedStats } from '../../../api/index.ts'
import type { Params, RunsQuery } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { feedbackJson, sessionJson } from '../../../platform/index.ts'
import type { Project, RunsQuestion, Uuid } from '../../../platform/index.ts'
import { leftSignal, sendRows } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { sendComparisons, sharedRunPage } from '../datasets/index.ts'
import { feedbackPage } from '../feedback-page.ts'
import { attachmentLinks } from '../links.ts'
import { requireId } from '../path-id.ts'
import { sendBytes } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { questionOfV1 } from '../runs-question.ts'
import { statsOf } from '../sessions/index.ts'
import { refuseFilter } from './public-runs.ts'
import { sharedDataset } from './shared-dataset.ts'

/** Experiments whose feedback is listed: the newest, unless some are named. */
const feedbackOfMax = 10
/** Experiments whose runs are read: the newest, unless some are named. */
const runsOfMax = 100

/** Experiments that a request names, if it does. */
interface Named {
  readonly ids?: readonly Uuid[]
  readonly limit: number
}

/** Adds the routes below `/api/v1`. */
export function sharedExperimentRoutes(app: App, parts: PlatformParts): void {
  const { platform } = parts
  for (const operation of [listSharedDatasetRuns, listSharedExampleRuns]) {
    serve(app, operation, async (request, reply) =>
      sharedRunPage(parts, request, reply, {
        ...await sharedDataset(parts, request.params.token),
        body: request.body,
      }))
  }

  serve(app, listSharedProjects, async ({ params, query }, reply) => {
    const { tenant, dataset } = await sharedDataset(parts, params.token)
    const { id: ids, name, name_contains: part, limit = 100, offset = 0 } = query
    const { projects, total } = await platform.projects.find(tenant, { limit, offset,
      referenceDatasetIds: [dataset.id], sortBy: 'start_time', descending: true, ...ids && { ids },
      ...name && { name }, ...part && { nameContains: part } })
    const stats = await statsOf(parts, tenant, query.include_stats ? projects : [], reply)
    reply.header('x-pagination-total', total)
    return sendRows(reply, projects,
      (each) => JSON.stringify(sessionJson(tenant, each, stats.get(each.id))))
  })

  serve(app, listProjectsOfSeveral, async ({ query }, reply) => {
    const texts: string[] = []
    for (const token of new Set(query.share_tokens)) {
      const { tenant, projects } = await experimentsOf(parts, token, { limit: runsOfMax })
      texts.push(...projects.map((each) => JSON.stringify(sessionJson(tenant, each))))
    }
    return sendRows(reply, texts, (text) => text)
  })

  serve(app, listSharedComparisons, async ({ params, query }, reply) => {
    const { tenant, dataset } = await sharedDataset(parts, params.token)
    return sendComparisons(platform, reply, { ...query, tenant, dataset: dataset.id })
  })

  serve(app, listSharedFeedback, async ({ params, query }, reply) => {
    const { run, session, key, limit = 100, offset = 0 } = query
    const { tenant, projects } = await experimentsOf(parts, params.token, {
      limit: feedbackOfMax,
      ...session && { ids: session },
    })
    const rows = projects.length === 0
      ? []
      : await feedbackPage(platform.query, { tenant, projects: projects.map(({ id }) => id), limit,
        offset, ...run && { spans: run }, ...key && { keys: key } })
    return sendRows(reply, rows, (row) => JSON.stringify(feedbackJson(row)))
  })
}

/** Adds the routes below `/api/v1` that show the runs themselves. */
export function sharedExperimentRunRoutes(app: App, parts: PlatformParts): void {
  const { platform } = parts

  serve(app, querySharedRuns, async (request, reply) => {
    const question = await runsQuestion(parts, request.params.token, request.body)
    const links = await attachmentLinks(platform, request)
    return sendBytes(reply,
      await platform.query.runs({ ...question, links }, { signal: leftSignal(reply) }))
  })

  serve(app, readSharedStats, async (request, reply) => {
    const question = await runsQuestion(parts, request.params.token, request.body)
    return sendBytes(reply, await platform.query.stats(question, { signal: leftSignal(reply) }))
  })

  serve(app, getSharedRun, async (request, reply) => sharedRun(parts, request, reply))
}

async function sharedRun(parts: PlatformParts,
  request: FastifyRequest<{ Params: Params<typeof getSharedRun> }>,
  reply: FastifyReply): Promise<FastifyReply> {
  const { platform } = parts
  const { token, run } = request.params
  const { tenant, dataset } = await sharedDataset(parts, token)
  const id = requireId(run, 'run')
  const places = await platform.query.locate({ tenant, ids: [id] })
  const projects = (await platform.projects.get(tenant, places.map(({ project }) => project)))
    .filter(({ referenceDatasetId }) => referenceDatasetId === dataset.id)
  if (projects.length === 0) throw new HeddleError('not_found', 'There is no such run.')
  return sendBytes(reply,
    await platform.query.run({ tenant, id, projects, version: 1,
      links: await attachmentLinks(platform, request) }, { signal: leftSignal(reply) }))
}

async function runsQuestion(parts: PlatformParts, token: string,
  body: RunsQuery): Promise<RunsQuestion> {
  refuseFilter(body)
  const { session, id, trace, parent_run, reference_example, run_type, error, is_root, select,
    cursor, order, limit } = body
  const { tenant, projects } = await experimentsOf(parts, token, { limit: runsOfMax,
    ...session?.length && { ids: session } })
  return questionOfV1(tenant, projects, { id, trace, parent_run, reference_example, run_type, error,
    is_root, select, cursor, order, limit })
}

/** The experiments of a shared dataset: those that are named, or the newest. */
async function experimentsOf(parts: PlatformParts, token: string, { ids, limit }: Named): Promise<
  { readonly tenant: string; readonly projects: readonly Project[] }
> {
  const { tenant, dataset } = await sharedDataset(parts, token)
  const { projects } = await parts.platform.projects.find(tenant, { limit, offset: 0,
    referenceDatasetIds: [dataset.id], sortBy: 'start_time', descending: true, ...ids && { ids } })
  return { tenant, projects }
}

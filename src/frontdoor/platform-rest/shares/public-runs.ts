/** Routes with which anybody reads what a token names. What it does not name is not found. */

import type { FastifyReply, FastifyRequest } from 'fastify'

import { getPublicRoot, getPublicRun, getPublicRunV2, listPublicFeedback, listPublicRuns,
  queryPublicRuns, queryPublicRunsV2 } from '../../../api/index.ts'
import type { RunsQuery } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import { feedbackJson } from '../../../platform/index.ts'
import type { Platform, RunsQuestion, SharedObject, Uuid } from '../../../platform/index.ts'
import { leftSignal } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { sendPage } from '../event-page.ts'
import { attachmentLinks } from '../links.ts'
import { requireId } from '../path-id.ts'
import { sendBytes } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { questionOfV1, questionOfV2 } from '../runs-question.ts'

/** Runs whose feedback is listed. */
const feedbackRunsMax = 1_000

/** Adds the routes below `/api/v1`. */
export function publicRunRoutes(app: App, { platform }: PlatformParts): void {
  const ask = async (request: FastifyRequest, text: string, body: RunsQuery) => {
    const shared = await sharedRuns(platform, text)
    refuseFilter(body)
    const { id, run_type, error, is_root, select, cursor, order, limit } = body
    const question = questionOfV1(shared.tenant, shared.projects, { id, run_type, error, is_root,
      select, cursor, order, limit })
    return { ...bound(question, shared), links: await attachmentLinks(platform, request) }
  }

  serve(app, queryPublicRuns, async (request, reply) => {
    const question = await ask(request, request.params.token, request.body)
    return sendBytes(reply, await platform.query.runs(question, { signal: leftSignal(reply) }))
  })

  serve(app, listPublicRuns, async (request, reply) => {
    const { params, query: { id } } = request
    const question = await ask(request, params.token, { ...id && { id }, limit: 100 })
    const page = await platform.query.runs({ ...question, isList: true }, {
      signal: leftSignal(reply),
    })
    return sendBytes(reply, page)
  })

  const one = async (request: FastifyRequest, reply: FastifyReply) => {
    const { token: text, id } = request.params as { readonly token: string; readonly id?: string }
    const shared = await sharedRuns(platform, text)
    const run = id === undefined ? await rootOf(platform, shared) : requireId(id, 'run')
    const { tenant, projects, within } = shared
    return sendBytes(reply,
      await platform.query.run({ tenant, id: run, projects, within, version: 1,
        links: await attachmentLinks(platform, request) }, { signal: leftSignal(reply) }))
  }
  serve(app, getPublicRoot, one)
  serve(app, getPublicRun, one)

  serve(app, listPublicFeedback, async ({ params, query: { run, limit = 100, offset = 0 } }) => {
    const shared = await sharedRuns(platform, params.token)
    const { tenant, projects } = shared
    const spans = await platform.query.spanIds(
      bound({ tenant, projects, version: 1, order: 'oldest', limit: feedbackRunsMax,
        ...run && { ids: run } }, shared),
    )
    if (spans.length === 0) return []
    const rows = await platform.query.listFeedback({ tenant, spans, limit, offset })
    return rows.map(feedbackJson)
  })
}

/** Adds the routes below `/api/v2`. */
export function publicRunRoutesV2(app: App, { platform, env }: PlatformParts): void {
  serve(app, queryPublicRunsV2, async (request, reply) => {
    const { params, body, body: { ids: named, selects, cursor, page_size } } = request
    const shared = await sharedRuns(platform, params.token)
    refuseFilter(body)
    const question = questionOfV2(shared.tenant, shared.projects, { ids: named, selects, cursor,
      page_size, min_start_time: 0 }, env.nowMs() * 1_000)
    const links = await attachmentLinks(platform, request)
    return sendPage(request, reply,
      await platform.query.runs({ ...bound(question, shared), links }, {
        signal: leftSignal(reply),
      }))
  })

  serve(app, getPublicRunV2, async (request, reply) => {
    const { params, query: { selects = [] } } = request
    const { tenant, projects, within } = await sharedRuns(platform, params.token)
    return sendBytes(reply,
      await platform.query.run({ tenant, id: requireId(params.id, 'run'), projects, within,
        version: 2, select: selects, links: await attachmentLinks(platform, request) }, {
        signal: leftSignal(reply),
      }))
  })
}

/** Runs that a token names. */
type SharedRuns = Pick<RunsQuestion, 'tenant' | 'projects'> & {
  readonly object: Exclude<SharedObject, { readonly kind: 'dataset' }>
  readonly within: NonNullable<RunsQuestion['within']>
}

/** Throws `not_found`, also if the token names no runs. */
async function sharedRuns(platform: Platform, text: string): Promise<SharedRuns> {
  const { tenant, object } = await platform.shares.find(text)
  const projects = object.kind === 'dataset'
    ? []
    : await platform.projects.get(tenant, [object.project])
  if (object.kind === 'dataset' || projects.length === 0) {
    throw new HeddleError('not_found', 'This link names no runs, or they are gone.')
  }
  const within = object.kind === 'run'
    ? { trace: object.id }
    : { traceFilter: `eq(thread_id, ${JSON.stringify(object.id)})` }
  return { tenant, projects, object, within }
}

/** Throws `invalid` for a filter: it looks into as many payloads as whoever asks likes. */
export function refuseFilter({ filter }: { readonly filter?: string | null | undefined }): void {
  if (!filter?.trim()) return
  throw new HeddleError('invalid',
    'A share link answers no filter: name runs by their ids, or ask ' +
      'with a key.')
}

/** The question, about nothing but what is shared. */
function bound(question: RunsQuestion, { within }: SharedRuns): RunsQuestion {
  return { ...question, within, ...question.ids === undefined && within }
}

/** The root of a trace, or the newest one of a conversation. */
async function rootOf({ query }: Platform, shared: SharedRuns): Promise<Uuid> {
  const { tenant, projects } = shared
  const [root] = await query.spanIds(
    bound({ tenant, projects, version: 1, order: 'newest', limit: 1, rootsOnly: true,
      isRoot: true }, shared),
  )
  if (root !== undefined) return root
  throw new HeddleError('not_found', 'The run that was shared is gone.')
}

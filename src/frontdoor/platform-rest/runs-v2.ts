/** Routes of v2 that read spans, traces and conversations. */

import type { FastifyRequest } from 'fastify'

import { getRunUrl, getTracedRunV2, listRunsOfTrace, listTracesOfConversation, queryConversations,
  queryRunsV2, queryTraces } from '../../api/index.ts'
import type { Query, RunsQueryV2 } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import type { Platform, Project, RunsQuestion } from '../../platform/index.ts'
import { leftSignal } from '../http/list-reply.ts'
import type { App } from '../http/route.ts'
import { serve } from '../http/serve.ts'
import { sendPage } from './event-page.ts'
import { asksForLinks, attachmentLinks, runPage, studioUrl } from './links.ts'
import { requireId } from './path-id.ts'
import { projectOf, projectsOf, sendBytes } from './platform-route.ts'
import type { PlatformParts } from './platform-route.ts'
import { questionOfV2 } from './runs-question.ts'
import { refuseThreadFilter } from './threads-v2.ts'

/** Makes a question of a body; it is about projects that the caller has. */
type QuestionIn = (request: FastifyRequest, body: RunsQueryV2) => Promise<RunsQuestion>

/** Adds the routes below `/api/v2`. */
export function runRoutesV2(app: App, { platform, env }: PlatformParts): void {
  const questionIn: QuestionIn = async (request, body) =>
    questionOfV2(request.caller.tenant, await projectsAsked(platform, request, body), body,
      env.nowMs() * 1_000)
  queryRoutes(app, platform, questionIn)
  partRoutes(app, platform, questionIn)
  runRoutes(app, platform)
}

function queryRoutes(app: App, platform: Platform, questionIn: QuestionIn): void {
  const linked = async (request: FastifyRequest, question: RunsQuestion): Promise<RunsQuestion> =>
    asksForLinks(question.select)
      ? { ...question, links: await attachmentLinks(platform, request) }
      : question
  const asking = (operation: typeof queryRunsV2 | typeof queryTraces | typeof queryConversations,
    ask: (question: RunsQuestion,
      signal: { readonly signal: AbortSignal }) => Promise<Uint8Array>) => {
    serve(app, operation, async (request, reply) => {
      refuseThreadFilter(request.body)
      const question = await linked(request, await questionIn(request, request.body))
      return sendPage(request, reply, await ask(question, { signal: leftSignal(reply) }))
    })
  }
  asking(queryRunsV2, (question, options) => platform.query.runs(question, options))
  asking(queryTraces, (question, options) => platform.query.traces(question, options))
  asking(queryConversations,
    (question, options) =>
      platform.query.groups({ ...question, offset: 0, form: 'threads' }, options))
}

/** The runs of a trace, and the traces of a conversation. */
function partRoutes(app: App, platform: Platform, questionIn: QuestionIn): void {
  serve(app, listRunsOfTrace, async (request, reply) => {
    const trace = requireId(request.params.id, 'run')
    const question = await questionIn(request, bodyOf(request.query, { trace_id: trace }))
    return sendPage(request, reply,
      await platform.query.trace(question, { signal: leftSignal(reply) }))
  })
  serve(app, listTracesOfConversation, async (request, reply) => {
    const thread = request.params.id
    const question = await questionIn(request,
      bodyOf(request.query, { is_root: true, filter: `eq(thread_id, ${JSON.stringify(thread)})` }))
    return sendPage(request, reply,
      await platform.query.traces(question, { signal: leftSignal(reply) }))
  })
}

/** One run, and the address of its page. */
function runRoutes(app: App, platform: Platform): void {
  serve(app, getRunUrl, async (request) => {
    const id = requireId(request.params.id, 'run')
    const project = await projectIn(platform, request, request.query)
    const { tenant } = request.caller
    const trace = request.query.trace_id ??
      (await platform.query.locate({ tenant, ids: [id] }))[0]?.trace
    return { url: studioUrl(request, runPage(project.id, id, trace)) }
  })

  serve(app, getTracedRunV2, async (request, reply) => {
    const id = requireId(request.params.id, 'run')
    const { query, query: { selects = [] }, caller: { tenant } } = request
    const project = await projectIn(platform, request, query)
    const asked = { tenant, id, projects: [project], version: 2 } as const
    const links = asksForLinks(selects) ? await attachmentLinks(platform, request) : undefined
    const shareUrl = selects.includes('SHARE_URL')
      ? await shareUrlOf(platform, request, project, id)
      : undefined
    return sendBytes(reply,
      await platform.query.run({ ...asked, select: selects.filter((each) => each !== 'SHARE_URL'),
        ...links && { links }, ...shareUrl !== undefined && { shareUrl } }, {
        signal: leftSignal(reply),
      }))
  })
}

/** URL of the page of a shared trace; null if the run is unknown or not shared. */
async function shareUrlOf(platform: Platform, request: FastifyRequest, project: Project,
  id: string): Promise<string | null> {
  const { tenant } = request.caller
  const [place] = await platform.query.locate({ tenant, ids: [id] })
  if (place === undefined) return null
  const token = await platform.shares.tokenOf(tenant, { kind: 'run', project: project.id,
    id: place.trace })
  return token === undefined ? null : studioUrl(request, { path: ['public', token] })
}

async function projectIn(platform: Platform, request: FastifyRequest,
  { project_id: id, session_id: session }: Query<typeof getTracedRunV2>): Promise<Project> {
  const project = id ?? session
  if (!project) throw new HeddleError('invalid', 'Name the project: project_id.')
  return await projectOf(platform, request, project)
}

function bodyOf({ project_id: project, session_id: session, selects }: Query<typeof getTracedRunV2>,
  more: Partial<RunsQueryV2>): RunsQueryV2 {
  return { project_id: project ?? session, selects, min_start_time: 0, page_size: 1_000, ...more }
}

async function projectsAsked(platform: PlatformParts['platform'], request: FastifyRequest,
  body: RunsQueryV2): Promise<readonly Project[]> {
  const { project_ids: many, project_id: one, session_id: session, reference_dataset_id: dataset } =
    body
  if (dataset) {
    const { tenant } = request.caller
    const { projects } = await platform.projects.find(tenant, { referenceDatasetIds: [dataset],
      sortBy: 'start_time', descending: true, limit: 100, offset: 0 })
    return projects
  }
  const ids = [...many ?? [], ...one ? [one] : [], ...session ? [session] : []]
  if (ids.length > 0) return await projectsOf(platform, request, ids)
  throw new HeddleError('invalid', 'Name the projects: project_ids, or a reference_dataset_id.')
}

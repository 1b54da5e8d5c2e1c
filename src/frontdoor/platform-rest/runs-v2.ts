/** Routes of v2 that read spans, traces and conversations. */

import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Static } from 'typebox'

import { HeddleError } from '../../errors.ts'
import type { Project, RunsQuestion } from '../../platform/index.ts'
import { leftSignal } from '../http/list-reply.ts'
import type { App } from '../http/route.ts'
import { Nullable, Uuid } from '../schema/json.ts'
import { sendPage } from './event-page.ts'
import { asksForLinks, attachmentLinks, runPage, studioUrl } from './links.ts'
import { requireId } from './path-id.ts'
import { platformRoute, projectOf, projectsOf, sendBytes } from './platform-route.ts'
import type { PlatformParts } from './platform-route.ts'
import { QueryRunsV2, questionOfV2 } from './runs-question.ts'
import { refuseThreadFilter } from './threads-v2.ts'

const ReadRun = Type.Object({
  project_id: Type.Optional(Nullable(Uuid())),
  session_id: Type.Optional(Nullable(Uuid())),
  trace_id: Type.Optional(Nullable(Uuid())),
  start_time: Type.Optional(Type.String()),
  selects: Type.Optional(Type.Array(Type.String(), { maxItems: 200 })),
})

const IdPath = Type.Object({ id: Type.String() })
const reading = { params: IdPath, querystring: ReadRun }

/** Adds the routes below `/api/v2`. */
export function runRoutesV2(app: App, { platform, env }: PlatformParts): void {
  const questionIn = async (request: FastifyRequest, body: Static<typeof QueryRunsV2>) =>
    questionOfV2(request.caller.tenant, await projectsAsked(platform, request, body), body,
      env.nowMs() * 1_000)
  const linked = async (request: FastifyRequest, question: RunsQuestion): Promise<RunsQuestion> =>
    asksForLinks(question.select)
      ? { ...question, links: await attachmentLinks(platform, request) }
      : question
  const asking = (path: string,
    ask: (question: RunsQuestion,
      signal: { readonly signal: AbortSignal }) => Promise<Uint8Array>) => {
    app.post(path, platformRoute('read', { body: QueryRunsV2 }), async (request, reply) => {
      refuseThreadFilter(request.body)
      const question = await linked(request, await questionIn(request, request.body))
      return sendPage(request, reply, await ask(question, { signal: leftSignal(reply) }))
    })
  }
  asking('/runs/query', (question, options) => platform.query.runs(question, options))
  asking('/traces/query', (question, options) => platform.query.traces(question, options))
  asking('/threads/query',
    (question, options) =>
      platform.query.groups({ ...question, offset: 0, form: 'threads' }, options))

  app.get('/traces/:id/runs', platformRoute('read', reading), async (request, reply) => {
    const trace = requireId(request.params.id, 'run')
    const question = await questionIn(request, bodyOf(request.query, { trace_id: trace }))
    return sendPage(request, reply,
      await platform.query.trace(question, { signal: leftSignal(reply) }))
  })

  app.get('/threads/:id/traces', platformRoute('read', reading), async (request, reply) => {
    const thread = request.params.id
    const question = await questionIn(request,
      bodyOf(request.query, { is_root: true, filter: `eq(thread_id, ${JSON.stringify(thread)})` }))
    return sendPage(request, reply,
      await platform.query.traces(question, { signal: leftSignal(reply) }))
  })

  app.get('/runs/:id/url', platformRoute('read', reading), async (request, reply) => {
    const id = requireId(request.params.id, 'run')
    const project = await projectOfQuery(request)
    const { trace_id: named } = request.query as Static<typeof ReadRun>
    const { tenant } = request.caller
    const trace = named ?? (await platform.query.locate({ tenant, ids: [id] }))[0]?.trace
    return reply.send({ url: studioUrl(request, runPage(project.id, id, trace)) })
  })

  app.get('/runs/:id', platformRoute('read', reading), async (request, reply) => {
    const id = requireId(request.params.id, 'run')
    const project = await projectOfQuery(request)
    const { query, caller: { tenant } } = request
    const { selects = [] } = query as Static<typeof ReadRun>
    const asked = { tenant, id, projects: [project], version: 2 } as const
    const links = asksForLinks(selects) ? await attachmentLinks(platform, request) : undefined
    const shareUrl = selects.includes('SHARE_URL') ? await shareUrlOf(request, project) : undefined
    return sendBytes(reply,
      await platform.query.run({ ...asked, select: selects.filter((each) => each !== 'SHARE_URL'),
        ...links && { links }, ...shareUrl !== undefined && { shareUrl } }, {
        signal: leftSignal(reply),
      }))
  })

  /** URL of the page of a shared trace; null if the run is unknown or not shared. */
  async function shareUrlOf(request: FastifyRequest, project: Project): Promise<string | null> {
    const { params, caller: { tenant } } = request
    const id = requireId((params as { readonly id: string }).id, 'run')
    const [place] = await platform.query.locate({ tenant, ids: [id] })
    if (place === undefined) return null
    const token = await platform.shares.tokenOf(tenant, { kind: 'run', project: project.id,
      id: place.trace })
    return token === undefined ? null : studioUrl(request, { path: ['public', token] })
  }

  async function projectOfQuery(request: FastifyRequest): Promise<Project> {
    const { project_id: id, session_id: session } = request.query as Static<typeof ReadRun>
    const project = id ?? session
    if (!project) throw new HeddleError('invalid', 'Name the project: project_id.')
    return await projectOf(platform, request, project)
  }
}

function bodyOf({ project_id: project, session_id: session, selects }: Static<typeof ReadRun>,
  more: Partial<Static<typeof QueryRunsV2>>): Static<typeof QueryRunsV2> {
  return { project_id: project ?? session, selects, min_start_time: 0, page_size: 1_000, ...more }
}

async function projectsAsked(platform: PlatformParts['platform'], request: FastifyRequest,
  body: Static<typeof QueryRunsV2>): Promise<readonly Project[]> {
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

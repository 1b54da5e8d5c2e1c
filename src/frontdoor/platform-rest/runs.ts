/** Routes of v1 that read spans, which are runs on this wire. */

import type { FastifyRequest } from 'fastify'

import { getTracedRun, groupRuns, queryRuns, readGroupStats, readRunStats,
  validateFilter } from '../../api/index.ts'
import type { Body, RunsQuery } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import type { GroupBy, Project, Uuid } from '../../platform/index.ts'
import type { App } from '../http/route.ts'
import { leftSignal } from '../http/list-reply.ts'
import { serve } from '../http/serve.ts'
import { asksForLinks, attachmentLinks } from './links.ts'
import { requireId } from './path-id.ts'
import { projectOf, projectsOf, sendBytes } from './platform-route.ts'
import type { PlatformParts } from './platform-route.ts'
import { questionOfV1 } from './runs-question.ts'

/** Adds the routes that query, group and summarise runs, and those that check filters. */
export function runRoutes(app: App, { platform }: PlatformParts): void {
  serve(app, queryRuns, async (request, reply) => {
    const question = questionOfV1(request.caller.tenant,
      await projectsAsked(platform, request, request.body), request.body)
    const links = asksForLinks(request.body.select)
      ? await attachmentLinks(platform, request)
      : undefined
    return sendBytes(reply, await platform.query.runs({ ...question, ...links && { links } }, {
      signal: leftSignal(reply),
    }))
  })

  serve(app, validateFilter, async ({ body: { filter } }) => {
    const wrong = filter === undefined || filter === null
      ? null
      : await platform.query.validate({ filter })
    return { valid: wrong === null,
      errors: wrong === null ? [] : [{ field: 'filter', message: wrong }] }
  })

  serve(app, getTracedRun, async (request, reply) => {
    const id = requireId(request.params.id, 'run')
    const project = await requireLocated(platform, request, id)
    const { tenant } = request.caller
    return sendBytes(reply,
      await platform.query.run({ tenant, id, projects: [project], version: 1,
        links: await attachmentLinks(platform, request) }, {
        signal: leftSignal(reply),
      }))
  })

  serve(app, readRunStats, async (request, reply) => {
    const { body, caller: { tenant } } = request
    const projects = await projectsAsked(platform, request, body)
    const groupBy = groupByOf(body.group_by)
    const question = { ...questionOfV1(tenant, projects, body), ...groupBy && { groupBy } }
    return sendBytes(reply, await platform.query.stats(question, { signal: leftSignal(reply) }))
  })

  for (const [operation, form] of [[groupRuns, 'group'], [readGroupStats, 'groupStats']] as const) {
    serve(app, operation, async (request, reply) => {
      const { body, caller: { tenant } } = request
      const project = await projectOf(platform, request, body.session_id)
      const { filter, start_time: start, end_time: end, limit, offset } = body
      const question = questionOfV1(tenant, [project], { filter, start_time: start, end_time: end,
        limit, is_root: true })
      return sendBytes(reply,
        await platform.query.groups({ ...question, form, offset: offset ?? 0 }, {
          signal: leftSignal(reply),
        }))
    })
  }
}

/**
 * The projects of a question. Spans that are named by id, trace or parent are looked for in all of
 * the tenant's.
 */
export async function projectsAsked(platform: PlatformParts['platform'], request: FastifyRequest,
  { session, id, trace, parent_run: parent }: RunsQuery
): Promise<
  readonly Project[]
> {
  if (session?.length) return await projectsOf(platform, request, session)
  const named = [...id ?? [], ...trace ? [trace] : [], ...parent ? [parent] : []]
  if (named.length === 0) {
    throw new HeddleError('malformed', 'Name at least one of session, id, trace, parent_run.')
  }
  const places = await platform.query.locate({ tenant: request.caller.tenant, ids: named })
  return await projectsOf(platform, request, [...new Set(places.map(({ project }) => project))])
}

/** Throws `not_found` unless a project of the tenant has the span. */
async function requireLocated(platform: PlatformParts['platform'], request: FastifyRequest,
  id: Uuid): Promise<Project> {
  const places = await platform.query.locate({ tenant: request.caller.tenant, ids: [id] })
  const [project] = await projectsOf(platform, request, places.map((place) => place.project))
  if (project !== undefined) return project
  throw new HeddleError('not_found', 'There is no such run.')
}

const attributes = ['name', 'run_type', 'tag', 'metadata'] as const

function groupByOf(given: Body<typeof readRunStats>['group_by']): GroupBy | undefined {
  if (!given) return undefined
  const attribute = attributes.find((each) => each === given.attribute)
  if (attribute === undefined) {
    throw new HeddleError('invalid', `Groups are by ${attributes.join(', ')}.`)
  }
  return { attribute, maxGroups: given.max_groups ?? 5, ...given.path && { path: given.path } }
}

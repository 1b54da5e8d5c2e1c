/** Routes of v1 that read spans, which are runs on this wire. */

import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Static } from 'typebox'

import { HeddleError } from '../../errors.ts'
import type { GroupBy, Project, Uuid } from '../../platform/index.ts'
import type { App } from '../http/route.ts'
import { leftSignal } from '../http/list-reply.ts'
import { Json, Nullable, Uuid as UuidText } from '../schema/json.ts'
import { asksForLinks, attachmentLinks } from './links.ts'
import { requireId } from './path-id.ts'
import { platformRoute, projectOf, projectsOf, sendBytes } from './platform-route.ts'
import type { PlatformParts } from './platform-route.ts'
import { QueryRuns, questionOfV1 } from './runs-question.ts'

const QueryStats = Type.Object({
  ...QueryRuns.properties,
  group_by: Type.Optional(Nullable(Type.Object({
    attribute: Type.String(),
    path: Type.Optional(Nullable(Type.String({ maxLength: 1_000 }))),
    max_groups: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 100 }))),
  }))),
})

const GroupRuns = Type.Object({
  session_id: UuidText(),
  group_by: Type.Optional(Type.String()),
  filter: Type.Optional(Nullable(Type.String({ maxLength: 8_192 }))),
  start_time: Type.Optional(Json()),
  end_time: Type.Optional(Json()),
  offset: Type.Optional(Nullable(Type.Integer({ minimum: 0, maximum: 10_000 }))),
  limit: Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 100 }))),
})

const ValidateFilter = Type.Object({ filter: Type.Optional(Nullable(Type.String())) })

/** Adds the routes that query, group and summarise runs, and those that check filters. */
export function runRoutes(app: App, { platform }: PlatformParts): void {
  app.post('/runs/query', platformRoute('read', { body: QueryRuns }), async (request, reply) => {
    const question = questionOfV1(request.caller.tenant,
      await projectsAsked(platform, request, request.body), request.body)
    const links = asksForLinks(request.body.select)
      ? await attachmentLinks(platform, request)
      : undefined
    return sendBytes(reply, await platform.query.runs({ ...question, ...links && { links } }, {
      signal: leftSignal(reply),
    }))
  })

  app.post('/runs/query/validate', platformRoute('read', { body: ValidateFilter }),
    async ({ body: { filter } }) => {
      const wrong = filter === undefined || filter === null
        ? null
        : await platform.query.validate({ filter })
      return { valid: wrong === null,
        errors: wrong === null ? [] : [{ field: 'filter', message: wrong }] }
    })

  app.get<{ Params: { id: string } }>('/runs/:id', platformRoute('read'),
    async (request, reply) => {
      const id = requireId(request.params.id, 'run')
      const project = await requireLocated(platform, request, id)
      const { tenant } = request.caller
      return sendBytes(reply,
        await platform.query.run({ tenant, id, projects: [project], version: 1,
          links: await attachmentLinks(platform, request) }, {
          signal: leftSignal(reply),
        }))
    })

  app.post('/runs/stats', platformRoute('read', { body: QueryStats }), async (request, reply) => {
    const { body, caller: { tenant } } = request
    const projects = await projectsAsked(platform, request, body)
    const groupBy = groupByOf(body.group_by)
    const question = { ...questionOfV1(tenant, projects, body), ...groupBy && { groupBy } }
    return sendBytes(reply, await platform.query.stats(question, { signal: leftSignal(reply) }))
  })

  for (const [path, form] of [['/runs/group', 'group'], ['/runs/group/stats',
    'groupStats']] as const) {
    app.post(path, platformRoute('read', { body: GroupRuns }), async (request, reply) => {
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
  { session, id, trace, parent_run: parent }: Static<typeof QueryRuns>
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

function groupByOf(given: Static<typeof QueryStats>['group_by']): GroupBy | undefined {
  if (!given) return undefined
  const attribute = attributes.find((each) => each === given.attribute)
  if (attribute === undefined) {
    throw new HeddleError('invalid', `Groups are by ${attributes.join(', ')}.`)
  }
  return { attribute, maxGroups: given.max_groups ?? 5, ...given.path && { path: given.path } }
}

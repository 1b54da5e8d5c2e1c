/** Routes of projects, which are sessions on this wire. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Static } from 'typebox'

import { HeddleError, ignoreNotFound } from '../../../errors.ts'
import { metadataSought, projectChanged, projectMade, projectOfAddress,
  sessionJson } from '../../../platform/index.ts'
import type { Project, ProjectQuery, ProjectStats, Uuid } from '../../../platform/index.ts'
import { leftSignal, sendRows } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { Json, JsonObject, Nullable, Offset, Uuid as UuidText } from '../../schema/json.ts'
import { requireSimple } from '../../schema/validation.ts'
import { platformRoute, projectOf } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { requireId } from '../path-id.ts'

const text = (maxLength: number) => Type.Optional(Nullable(Type.String({ maxLength })))
const id = () => Type.Optional(Nullable(UuidText()))
const ids = () => Type.Optional(Type.Array(UuidText(), { maxItems: 1_000 }))

const SessionFields = {
  start_time: Type.Optional(Json()),
  end_time: Type.Optional(Json()),
  description: text(10_000),
  extra: Type.Optional(Nullable(JsonObject({ 'x-max-characters': 48 * 1024 }))),
  trace_tier: text(20),
}
/** Fields in which experiments describe themselves: answered as they came. */
const said = { num_examples: Type.Optional(Json()), num_repetitions: Type.Optional(Json()),
  evaluator_keys: Type.Optional(Json()), kicked_off_by: Type.Optional(Json()) }
const MakeSession = Type.Object({ id: id(), name: text(1_000), reference_dataset_id: id(),
  default_dataset_id: id(), ...SessionFields, ...said })
const PatchSession = Type.Object({ name: text(1_000), ...SessionFields })
const MakeQuery = Type.Object({ upsert: Type.Optional(Type.Boolean()) })
const ReadQuery = Type.Object({ include_stats: Type.Optional(Type.Boolean()) })
const DeleteQuery = Type.Object({
  session_ids: Type.Array(UuidText(), { minItems: 1, maxItems: 100 }),
})
const IdPath = Type.Object({ id: Type.String() })

/** Filters of sessions that both versions of the API have. */
export const sessionFilters = {
  id: ids(),
  name: Type.Optional(Type.String({ maxLength: 1_000 })),
  name_contains: Type.Optional(Type.String({ maxLength: 1_000 })),
  metadata: Type.Optional(Type.String({ maxLength: 16 * 1024 })),
  include_stats: Type.Optional(Type.Boolean()),
}
const ListSessions = Type.Object({
  ...sessionFilters,
  reference_dataset: ids(),
  reference_free: Type.Optional(Type.Boolean()),
  sort_by: Type.Optional(Type.String({ maxLength: 100 })),
  sort_by_desc: Type.Optional(Type.Boolean()),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 100 })),
  offset: Type.Optional(Offset()),
})
const ResolveSession = Type.Object({
  kind: Type.String({ maxLength: 20 }),
  id: Type.Optional(Type.String({ maxLength: 1_000 })),
  environment: Type.Optional(Type.String({ maxLength: 100 })),
})

/** Adds the routes below `/api/v1`. */
export function sessionRoutes(app: App, parts: PlatformParts): void {
  const { platform, env } = parts
  const { projects } = platform

  app.post('/sessions', platformRoute('change', { body: MakeSession, querystring: MakeQuery }),
    async ({ body, query, caller: { tenant } }) =>
      sessionJson(tenant, await projects.create(tenant, projectMade(body), query.upsert ?? false)))

  app.get('/sessions', platformRoute('read', { querystring: ListSessions }),
    async ({ query, caller: { tenant } }, reply) => {
      const { projects: found, total } = await projects.find(tenant, questionOf(query))
      reply.header('x-pagination-total', total)
      const stats = await statsOf(parts, tenant, query.include_stats ? found : [], reply)
      return sendRows(reply, found,
        (each) => JSON.stringify(sessionJson(tenant, each, stats.get(each.id))))
    })

  app.get('/sessions/resolutions', platformRoute('read', { querystring: ResolveSession }),
    async ({ query, caller: { tenant } }) => {
      const [project] = await resolved(parts, tenant, query)
      if (project !== undefined) return { session_id: project.id }
      throw new HeddleError('not_found', 'No project has this address.')
    })

  app.get('/sessions/:id', platformRoute('read', { params: IdPath, querystring: ReadQuery }),
    async ({ params, query, caller }, reply) => {
      const { tenant } = caller
      const project = await asked(caller, params.id)
      const stats = await statsOf(parts, tenant, query.include_stats ? [project] : [], reply)
      return sessionJson(tenant, project, stats.get(project.id))
    })

  app.patch('/sessions/:id', platformRoute('change', { params: IdPath, body: PatchSession }),
    async ({ params, body, caller }) => {
      const { tenant } = caller
      const { id: project } = await asked(caller, params.id)
      return sessionJson(tenant, await projects.patch(tenant, project, projectChanged(body)))
    })

  app.delete('/sessions/:id', platformRoute('change', { params: IdPath }),
    async ({ params, caller }, reply) => {
      const { id: project } = await asked(caller, params.id)
      await remove(caller.tenant, project)
      return reply.code(202).send({ message: 'The project is deleted.' })
    })

  app.delete('/sessions', platformRoute('change', { querystring: DeleteQuery }),
    async ({ query, caller: { tenant } }, reply) => {
      await Promise.all(
        query.session_ids.map((project) => remove(tenant, project).catch(ignoreNotFound)),
      )
      return reply.code(202).send({ message: 'The projects are deleted.' })
    })

  const asked = (caller: FastifyRequest['caller'], project: string) =>
    projectOf(platform, { caller }, requireId(project, 'project'))

  /** It is gone for every reader when this resolves. What it holds is removed after that. */
  async function remove(tenant: string, project: Uuid): Promise<void> {
    // First what only the project leads to: a removal that was cut off can be asked for again.
    await platform.views.deleteAll(tenant, project)
    await projects.delete(tenant, project)
    platform.ingest.remove({ tenant, what: { kind: 'project', project } }).catch(
      (error: unknown) =>
        env.log.warn('The spans of a deleted project are kept until they expire.', { project,
          error }),
    )
  }
}

function questionOf(query: Static<typeof ListSessions>): ProjectQuery {
  const { sort_by: sortBy, sort_by_desc: descending, reference_dataset: datasets,
    reference_free: free } = query
  return {
    ...filtersOf(query),
    sortBy: sortBy === 'name' || sortBy === 'created_at' ? sortBy : 'start_time',
    descending: descending ?? true,
    limit: query.limit ?? 100,
    offset: query.offset ?? 0,
    ...datasets && { referenceDatasetIds: datasets },
    ...free !== undefined && { referenceFree: free },
  }
}

interface Filters {
  readonly id?: readonly Uuid[]
  readonly name?: string
  readonly name_contains?: string
  readonly metadata?: string
}

/** Throws `invalid` if the metadata are no JSON, or would take too long to look for. */
export function filtersOf(
  { id: wanted, name, name_contains: part, metadata }: Filters,
): Pick<ProjectQuery, 'ids' | 'name' | 'nameContains' | 'metadataJson'> {
  if (metadata !== undefined) requireSimple('metadata', metadataSought(metadata))
  return {
    ...wanted && { ids: wanted },
    ...name !== undefined && { name },
    ...part !== undefined && { nameContains: part },
    ...metadata !== undefined && { metadataJson: metadata },
  }
}

/**
 * The statistics of projects. Those of a project whose statistics take too long are missing: its
 * name is worth more than an error.
 */
export async function statsOf({ platform }: Pick<PlatformParts, 'platform'>, tenant: string,
  projects: readonly Project[], reply: FastifyReply): Promise<ReadonlyMap<Uuid, ProjectStats>> {
  if (projects.length === 0) return new Map()
  const json = await platform.query.projectStats({ tenant, projects }, {
    signal: leftSignal(reply),
  })
  const stats = JSON.parse(
    Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString(),
  ) as readonly (ProjectStats | null)[]
  return new Map(projects.flatMap(({ id: project }, index) => {
    const own = stats[index] ?? null
    return own === null ? [] : [[project, own] as const]
  }))
}

/** An agent's project has the name that ingest gives it; those of evaluators share one. */
async function resolved({ platform: { projects } }: PlatformParts, tenant: string,
  { kind, id: wanted = '', environment = '' }: Static<typeof ResolveSession>
): Promise<readonly Project[]> {
  const named = async (name: string) =>
    (await projects.find(tenant, { name, sortBy: 'name', descending: false, limit: 1, offset: 0 }))
      .projects
  switch (kind.toUpperCase()) {
    case 'AGENT':
      return named(
        projectOfAddress(`lrn:agents/${wanted}/environments/${environment.toLowerCase()}`),
      )
    case 'EVALUATOR':
      return named('evaluators')
    case 'EXPERIMENT': {
      const found = await projects.get(tenant, [requireId(wanted, 'project')])
      return found.filter(({ referenceDatasetId }) => referenceDatasetId !== null)
    }
    default:
      throw new HeddleError('invalid', 'kind: AGENT, EXPERIMENT or EVALUATOR.')
  }
}

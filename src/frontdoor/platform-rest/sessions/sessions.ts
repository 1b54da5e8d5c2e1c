/** Routes of projects, which are sessions on this wire. */

import type { FastifyReply, FastifyRequest } from 'fastify'

import { createProject, deleteProject, deleteProjects, findProject, getProject, listProjects,
  patchProject } from '../../../api/index.ts'
import type { ProjectStats, Query } from '../../../api/index.ts'
import { HeddleError, ignoreNotFound } from '../../../errors.ts'
import { metadataSought, projectChanged, projectMade, projectOfAddress,
  sessionJson } from '../../../platform/index.ts'
import type { Project, ProjectQuery, Uuid } from '../../../platform/index.ts'
import { leftSignal, sendRows } from '../../http/list-reply.ts'
import type { App } from '../../http/route.ts'
import { serve } from '../../http/serve.ts'
import { requireSimple } from '../../schema/validation.ts'
import { projectOf } from '../platform-route.ts'
import type { PlatformParts } from '../platform-route.ts'
import { requireId } from '../path-id.ts'

/** Adds the routes below `/api/v1`. */
export function sessionRoutes(app: App, parts: PlatformParts): void {
  const { platform } = parts
  const { projects } = platform

  serve(app, createProject,
    async ({ body, query, caller: { tenant } }) =>
      sessionJson(tenant, await projects.create(tenant, projectMade(body), query.upsert ?? false)))
  serve(app, listProjects, async ({ query, caller: { tenant } }, reply) => {
    const { projects: found, total } = await projects.find(tenant, questionOf(query))
    reply.header('x-pagination-total', total)
    const stats = await statsOf(parts, tenant, query.include_stats ? found : [], reply)
    return sendRows(reply, found,
      (each) => JSON.stringify(sessionJson(tenant, each, stats.get(each.id))))
  })
  serve(app, findProject, async ({ query, caller: { tenant } }) => {
    const [project] = await resolved(parts, tenant, query)
    if (project !== undefined) return { session_id: project.id }
    throw new HeddleError('not_found', 'No project has this address.')
  })
  serve(app, getProject, async ({ params, query, caller }, reply) => {
    const { tenant } = caller
    const project = await asked(caller, params.id)
    const stats = await statsOf(parts, tenant, query.include_stats ? [project] : [], reply)
    return sessionJson(tenant, project, stats.get(project.id))
  })
  serve(app, patchProject, async ({ params, body, caller }) => {
    const { tenant } = caller
    const { id: project } = await asked(caller, params.id)
    return sessionJson(tenant, await projects.patch(tenant, project, projectChanged(body)))
  })
  serve(app, deleteProject, async ({ params, caller }) => {
    const { id: project } = await asked(caller, params.id)
    await remove(caller.tenant, project)
    return { message: 'The project is deleted.' }
  })
  serve(app, deleteProjects, async ({ query, caller: { tenant } }) => {
    await Promise.all(
      query.session_ids.map((project) => remove(tenant, project).catch(ignoreNotFound)),
    )
    return { message: 'The projects are deleted.' }
  })

  const asked = (caller: FastifyRequest['caller'], project: string) =>
    projectOf(platform, { caller }, requireId(project, 'project'))

  /** It is gone for every reader when this resolves. What it holds is removed after that. */
  async function remove(tenant: string, project: Uuid): Promise<void> {
    // First what only the project leads to: a removal that was cut off can be asked for again.
    await platform.views.deleteAll(tenant, project)
    await platform.removals.remove('project', tenant, project)
  }
}

function questionOf(query: Query<typeof listProjects>): ProjectQuery {
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
  { kind, id: wanted = '', environment = '' }: Query<typeof findProject>
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

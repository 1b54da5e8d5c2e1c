/** The projects of tenants, kept in catalogs. */

import type { Env } from '../../../../cluster/index.ts'
import { isObject, withoutUndefined } from '../../../json/index.ts'
import type { CatalogClient } from '../catalog/catalog-client.ts'
import type { CatalogRecord, NewRecord, RecordChange } from '../catalog/catalog-record.ts'
import { metadataSought } from '../catalog/record-query.ts'
import type { RecordQuery } from '../catalog/record-query.ts'
import { formerNamesOver } from './former-names.ts'
import { fileRuns } from './filed-projects.ts'
import type { Project, ProjectQuery, Projects } from './project.ts'

/** Days for which spans are kept: by default, and in a project of the longer time. */
export const retentionDays = { short: 14, long: 400 } as const

/** The members of a project that are the body of its record. */
interface ProjectBody {
  readonly endMs?: number | null
  readonly description?: string | null
  /** JSON text, as it was sent. */
  readonly extra?: string
  readonly days?: number
  readonly longLived?: boolean
  /** JSON text of an object. */
  readonly rest?: string
  readonly upload?: string
}

/** Projects over the catalogs of all tenants. */
export function projectsOver(catalogs: CatalogClient,
  env: Pick<Env, 'nowMs' | 'monotonicMs' | 'uuid'>): Projects {
  const formerNames = formerNamesOver(catalogs, env)
  const catalog = (tenant: string) => ({ tenant, collection: 'project' }) as const
  const made = (project: Partial<Project> & { readonly name: string }): NewRecord => ({
    orderMs: env.nowMs(),
    parentId: '',
    metadataJson: '{}',
    bodyJson: '{}',
    ...changeOf(project),
    id: project.id ?? env.uuid(),
    name: project.name,
  })
  const get: Projects['get'] = async (tenant, ids, keeps) =>
    (await catalogs.get(catalog(tenant), ids, keeps)).map(projectOf)
  /** The projects of these names, and the ids of the projects that the call made. */
  const ensured = async (tenant: string, names: readonly string[],
    startsMs?: readonly number[]) => {
    const nowMs = env.nowMs()
    const wanted = names.map((name, index) =>
      made({ name, startMs: Math.max(0, Math.min(nowMs, startsMs?.[index] ?? nowMs)) })
    )
    const projects = (await catalogs.ensure(catalog(tenant), wanted)).map(projectOf)
    return { projects, madeIds: new Set(wanted.map(({ id }) => id)) }
  }
  const existing = async (tenant: string, names: readonly string[]) =>
    (await Promise.all(
      names.map((name) =>
        catalogs.list(catalog(tenant), { name, sortBy: 'name', descending: false, limit: 1,
          offset: 0 })
      ),
    )).flatMap(({ records }) => records.map(projectOf))
  return {
    named: async (tenant, names, startsMs) => (await ensured(tenant, names, startsMs)).projects,
    filed: fileRuns({ formerNames, get, ensured, existing }),
    get,
    find: async (tenant, query) => {
      const { records, total } = await catalogs.list(catalog(tenant), recordQuery(query))
      return { projects: records.map(projectOf), total }
    },
    create: async (tenant, project, upsert) =>
      projectOf(
        await catalogs.create(catalog(tenant), made(project),
          upsert ? upserted(project) : undefined),
      ),
    patch: async (tenant, id, change) => {
      if (change.name !== undefined) {
        const [before] = await get(tenant, [id])
        if (before !== undefined && before.name !== change.name) {
          await formerNames.add(tenant, before.name, id)
        }
      }
      return projectOf(await catalogs.change(catalog(tenant), id, changeOf(change)))
    },
    delete: async (tenant, id) => {
      const [before] = await get(tenant, [id])
      if (before !== undefined) await formerNames.add(tenant, before.name, id)
      await catalogs.delete(catalog(tenant), id)
    },
  }
}

/**
 * Change of the project that has the name already. Clients send an empty `extra` to leave it as it
 * is.
 */
function upserted({ name: _, extraJson, ...project }: Partial<Project>): RecordChange {
  return changeOf({ ...project, ...extraJson !== undefined && extraJson !== '{}' && { extraJson } })
}

/** The project of a record. */
function projectOf(
  { id, name, orderMs, parentId, createdAtMs, modifiedAtMs, bodyJson }: CatalogRecord,
): Project {
  const body = JSON.parse(bodyJson) as ProjectBody
  const longLived = body.longLived ?? false
  return {
    id,
    name,
    startMs: orderMs,
    endMs: body.endMs ?? null,
    description: body.description ?? null,
    extraJson: body.extra ?? '{}',
    referenceDatasetId: parentId === '' ? null : parentId,
    retentionDays: body.days ?? (longLived ? retentionDays.long : retentionDays.short),
    longLived,
    createdMs: createdAtMs,
    modifiedMs: modifiedAtMs,
    restJson: body.rest ?? '{}',
    ...body.upload !== undefined && { upload: body.upload },
  }
}

/** Change of a record that a change of its project makes. */
function changeOf(change: Partial<Project>): RecordChange {
  const { name, startMs, referenceDatasetId, extraJson, endMs, description, longLived, restJson,
    retentionDays: days, upload } = change
  const body = withoutUndefined<ProjectBody>({ endMs, description, extra: extraJson, days,
    longLived, rest: restJson, upload })
  return withoutUndefined<RecordChange>({
    name,
    orderMs: startMs,
    parentId: referenceDatasetId === undefined ? undefined : referenceDatasetId ?? '',
    metadataJson: extraJson === undefined ? undefined : metadataIn(extraJson),
    bodyJson: Object.keys(body).length === 0 ? undefined : JSON.stringify(body),
  })
}

function metadataIn(extraJson: string): string {
  const extra: unknown = JSON.parse(extraJson)
  const metadata = isObject(extra) ? extra['metadata'] : undefined
  return JSON.stringify(isObject(metadata) ? metadata : {})
}

const orders = { start_time: 'order', name: 'name', created_at: 'created' } as const

function recordQuery(
  { ids, name, nameContains, referenceDatasetIds, referenceFree, metadataJson, sortBy, descending,
    limit, offset, after }: ProjectQuery,
): RecordQuery {
  return {
    sortBy: orders[sortBy],
    descending,
    limit,
    offset,
    ...ids && { ids },
    ...name !== undefined && { name },
    ...nameContains !== undefined && { nameContains },
    ...referenceDatasetIds && { parentIds: referenceDatasetIds },
    ...referenceFree !== undefined && { hasParent: !referenceFree },
    ...metadataJson !== undefined && { metadata: metadataSought(metadataJson) },
    ...after &&
      {
        after: { id: after.id, name: after.name, orderMs: after.startMs,
          createdAtMs: after.createdMs, modifiedAtMs: 0 },
      },
  }
}

/**
 * Projects as the store of spans has to know them: with the life and the end of their spans. Rule:
 * [life_follows].
 */

import { HeddleError } from '../../errors.ts'
import type { Calls } from '../calls/calls.ts'
import type { Project, Projects } from '../records/projects/project.ts'
import type { Uuid } from '../spans/span.ts'
import type { SpanWrites } from './ingest-call.ts'
import { daySeconds } from './project-cache.ts'

/** Calls of the store, and removals that are not finished. */
export interface SpanLivesDeps {
  readonly ingest: () => Pick<Calls<SpanWrites>, 'changeLife' | 'isRemovedProject'>
  /** True if the removal of a project was requested: the store may not have noted it yet. */
  readonly isBeingRemoved: (tenant: string, project: Uuid) => Promise<boolean>
}

type NewProject = Parameters<Projects['create']>[1]

/** Changes of a project at once that are followed until the store has the last one. */
const changesMax = 10

/**
 * Returns `projects` that change the life of the spans of a project together with its retention. A
 * change is acknowledged when both are durable. A change that failed may be repeated. A project
 * cannot be created with the id of a deleted project, because the store rejects all spans of it:
 * `create` throws `exists`.
 */
export function withSpanLives(projects: Projects,
  { ingest, isBeingRemoved }: SpanLivesDeps): Projects {
  const requireNewId = async (tenant: string, { id, name }: NewProject, upsert: boolean) => {
    if (id === undefined) return
    const isRemoved = await isBeingRemoved(tenant, id) ||
      await ingest().isRemovedProject({ tenant, project: id })
    if (!isRemoved) return
    const query = { name, sortBy: 'name', descending: false, limit: 1, offset: 0 } as const
    const isKnown = upsert && (await projects.find(tenant, query)).projects.length > 0
    if (!isKnown) {
      throw new HeddleError('exists', `Project ${id} was deleted, and its id cannot be used ` +
        'again. Create the project with another id, or without one.')
    }
  }
  const follow = async (tenant: string, project: Project): Promise<Project> => {
    let { retentionDays } = project
    for (let change = 0; change < changesMax; change++) {
      await ingest().changeLife({ tenant, project: project.id,
        timeToLiveS: retentionDays * daySeconds })
      // Another request may have changed the project concurrently.
      const [now] = await projects.get(tenant, [project.id])
      if (now === undefined || now.retentionDays === retentionDays) break
      retentionDays = now.retentionDays
    }
    return project
  }
  return {
    ...projects,
    create: async (tenant, project, upsert) => {
      await requireNewId(tenant, project, upsert)
      const made = await projects.create(tenant, project, upsert)
      return upsert && project.retentionDays !== undefined ? follow(tenant, made) : made
    },
    patch: async (tenant, id, change) => {
      const changed = await projects.patch(tenant, id, change)
      return change.retentionDays === undefined ? changed : follow(tenant, changed)
    },
  }
}

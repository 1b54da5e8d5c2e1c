/**
 * Projects whose spans get another end of life when the retention of the project changes. Rule:
 * [life_follows].
 */

import type { Calls } from '../calls/calls.ts'
import type { Project, Projects } from '../records/projects/project.ts'
import type { SpanWrites } from './ingest-call.ts'
import { daySeconds } from './project-cache.ts'

/** Changes of a project at once that are followed until the store has the last one. */
const changesMax = 10

/**
 * Returns `projects` that change the life of the spans of a project together with its retention. A
 * change is acknowledged when both are durable. A change that failed may be repeated.
 */
export function withSpanLives(projects: Projects,
  ingest: () => Pick<Calls<SpanWrites>, 'changeLife'>): Projects {
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
      const made = await projects.create(tenant, project, upsert)
      return upsert && project.retentionDays !== undefined ? follow(tenant, made) : made
    },
    patch: async (tenant, id, change) => {
      const changed = await projects.patch(tenant, id, change)
      return change.retentionDays === undefined ? changed : follow(tenant, changed)
    },
  }
}

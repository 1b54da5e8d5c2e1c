/** The rules of the life and the place of a span, and how to remove each one. */

import type { Env } from '../../../cluster/index.ts'
import type { FiledProject, Projects, SpanStore } from '../../../src/platform/index.ts'
import type { Connection, Statement } from '../../../src/store/cassandra/driver/connection.ts'
import { withMethods } from '../../support/with-methods.ts'

/**
 * cautious_clock  data is removed by a clock that does not follow a jump ahead
 * life_follows    spans get another end of life when the retention of their project changes
 * all_places      a removal finds a span in each project that has its id
 * former_name     a run is filed under the project that had the name when the run started
 * removal_noted   a removal is noted before rows are removed
 */
export const platformRules = ['cautious_clock', 'life_follows', 'all_places', 'former_name',
  'removal_noted'] as const

export type PlatformRule = typeof platformRules[number]

/** The clocks of a store. Without the rule, nothing bounds a jump. */
export function envWithout(rule: PlatformRule | undefined, env: Env): Env {
  return rule === 'cautious_clock' ? { ...env, monotonicMs: env.nowMs } : env
}

/** The store under the platform. */
export function storeWithout(rule: PlatformRule | undefined, store: SpanStore): SpanStore {
  switch (rule) {
    case 'life_follows':
      return withMethods(store, { changeLife: () => Promise.resolve() })
    case 'all_places':
      return withMethods(store, { locate: async (tenant, ids) => {
        const places = await store.locate(tenant, ids)
        return [...new Map(places.map((place) => [place.id, place])).values()]
      } })
    default:
      return store
  }
}

/** The projects of a tenant. */
export function projectsWithout(rule: PlatformRule | undefined, projects: Projects): Projects {
  if (rule !== 'former_name') return projects
  return withMethods(projects, { filed: async (tenant, runs) => {
    const named = await projects.named(tenant, runs.map(({ name }) => name),
      runs.map(({ startMs }) => startMs))
    return runs.map(({ name }): FiledProject => ({ isDeleted: false, isNew: false,
      project: named.find((project) => project.name === name) })
    )
  } })
}

/** The connection of a store to Cassandra. */
export function connectionWithout(rule: PlatformRule | undefined, real: Connection): Connection {
  if (rule !== 'removal_noted') return real
  return withMethods(real, { write: async (statement: Statement) => {
    if (!/\.span_gone /.test(statement.cql)) await real.write(statement)
  } })
}

/** The platform of one member: its threads, its projects, and what the front door asks of them. */

import type { Env } from '../../cluster/index.ts'
import type { CatalogClient } from './catalog/catalog-client.ts'
import { chartsOver } from './charts/chart.ts'
import type { Charts } from './charts/chart.ts'
import { feedbackConfigsOver } from './feedback/feedback-config.ts'
import type { FeedbackConfigs } from './feedback/feedback-config.ts'
import { projectsOver } from './projects/catalog-projects.ts'
import type { Projects } from './projects/project.ts'
import type { Calls } from './threads/calls.ts'
import type { IngestHandlers, IngestNeeds, QueryHandlers } from './threads/platform-calls.ts'
import type { QueryNeeds } from './threads/own-run-calls.ts'
import { PlatformThread } from './threads/platform-thread.ts'
import type { SpanStorePlace } from './threads/thread-start.ts'

/** The open platform of a member. It belongs to the server, which closes it. */
export interface Platform {
  readonly projects: Projects
  readonly feedbackConfigs: FeedbackConfigs
  readonly charts: Charts
  /** Calls to the thread that writes. */
  readonly ingest: Calls<Omit<IngestHandlers, 'close'>>
  /** Calls to the thread that reads. */
  readonly query: Calls<Omit<QueryHandlers, 'close'>>
  close(): Promise<void>
}

/** What a platform is made of. */
export interface PlatformOptions {
  readonly store: SpanStorePlace
  readonly catalogs: CatalogClient
  /** What is awaited before each question: what was handed over must be found. */
  readonly settled?: () => Promise<void> | undefined
  /** The threads of this server, whose runs are traces; by default, none are. */
  readonly own?: QueryNeeds
  readonly env: Env
}

/** Makes the platform of a member. Its threads start when they are first needed. */
export function openPlatform(
  { store, catalogs, env, settled, own }: PlatformOptions,
): Platform {
  const { log } = env
  const projects = projectsOver(catalogs, env)
  const needs: IngestNeeds = {
    projects: async ({ tenant, names, ids }) => {
      const [named, found] = await Promise.all([projects.named(tenant, names),
        ids.length === 0 ? [] : projects.get(tenant, ids, true)])
      return [...named, ...found]
    },
  }
  const ingest = new PlatformThread<IngestHandlers>({ name: 'ingest', store, needs: { ...needs },
    log })
  const query = new PlatformThread<QueryHandlers>({ name: 'query', store, log,
    ...settled && { settled }, ...own && { needs: { ...own } } })
  return {
    projects: {
      ...projects,
      // The first run of a graph makes its project.
      find: async (tenant, query) => {
        await settled?.()
        return projects.find(tenant, query)
      },
    },
    feedbackConfigs: feedbackConfigsOver(catalogs, env),
    charts: chartsOver(catalogs, env),
    get ingest() {
      return ingest.calls
    },
    get query() {
      return query.calls
    },
    close: async () => {
      await Promise.all([ingest.close(), query.close()])
    },
  }
}

/** A front door with a platform whose records are in memory, and keys of two tenants. */

import { keyAdmin } from '../../../../src/access/index.ts'
import type { CallerRole } from '../../../../src/access/index.ts'
import { addressReader } from '../../../../src/frontdoor/index.ts'
import { chartsOver } from '../../../../src/platform/query/charts/chart.ts'
import { feedbackChanges } from '../../../../src/platform/ingest/feedback-changes.ts'
import { feedbackConfigsOver } from '../../../../src/platform/records/feedback/feedback-config.ts'
import type { Platform, SeriesQuestion, SpanStore } from '../../../../src/platform/index.ts'
import type { RemovedKind } from '../../../../src/platform/records/catalog/pending-removals.ts'
import { projectsOver } from '../../../../src/platform/records/projects/catalog-projects.ts'
import { viewsOver } from '../../../../src/platform/records/views/view.ts'
import { queryHandlers } from '../../../../src/platform/threads/query-handlers.ts'
import type { QueryHandlers } from '../../../../src/platform/threads/platform-calls.ts'
import { virtualEnv } from '../../../support/env.ts'
import { memorySpans } from '../../../support/memory-spans.ts'
import { MemoryKeys } from '../../../support/memory-keys.ts'
import { CatalogHouse } from '../../platform/catalog/catalog-house.ts'
import { call, openDoor } from '../open-front-door.ts'
import type { Answer } from '../open-front-door.ts'

type ProjectStatsQuestion = Parameters<Platform['query']['projectStats']>[0]

/** An open door, and how its callers send requests. */
export interface PlatformDoor {
  /** Sends as a developer of `acme`. */
  send(method: string, path: string, body?: unknown): Promise<Answer>
  as(tenant: string, role?: CallerRole): Promise<PlatformDoor['send']>
  /** Sends without a key. */
  asNobody: PlatformDoor['send']
  readonly url: string
  /** Projects whose spans were removed. */
  readonly removed: string[]
  /** What was asked about statistics. */
  readonly asked: (ProjectStatsQuestion | SeriesQuestion)[]
  /** The spans of all tenants. */
  readonly store: SpanStore
}

/** Opens a door. It is closed after the test. */
export async function platformDoor(): Promise<PlatformDoor> {
  const house = new CatalogHouse()
  const catalogs = house.client()
  const ids = { nowMs: house.env.nowMs, monotonicMs: house.env.monotonicMs,
    uuid: () => crypto.randomUUID() }
  const store = memorySpans(() => house.env.nowMs() * 1_000)
  const handlers = queryHandlers({ store, env: house.env })
  const removed: string[] = []
  const asked: PlatformDoor['asked'] = []
  const answered = (question: ProjectStatsQuestion | SeriesQuestion, answer: object) => {
    asked.push(question)
    return Promise.resolve(Buffer.from(JSON.stringify(answer)))
  }
  const platform = {
    projects: projectsOver(catalogs, ids),
    feedbackConfigs: feedbackConfigsOver(catalogs, ids),
    charts: chartsOver(catalogs, ids),
    views: viewsOver(catalogs, ids),
    ingest: {
      putFeedback: (rows: Parameters<Platform['ingest']['putFeedback']>[0]) =>
        store.putFeedback(rows.map((row) => ({ row, place: null }))),
      ...feedbackChanges(store),
      putFeedbackToken: store.putFeedbackToken,
      remove: ({ tenant, what }: Parameters<Platform['ingest']['remove']>[0]) => {
        removed.push(what.kind === 'project' ? what.project : what.kind)
        return store.remove(tenant, what)
      },
    },
    removals: {
      remove: async (_kind: RemovedKind, tenant: string, id: string) => {
        await projectsOver(catalogs, ids).delete(tenant, id)
        removed.push(id)
      },
    },
    query: {
      stats: (question: Parameters<QueryHandlers['stats']>[0]) => handlers.stats(question),
      groups: (question: Parameters<QueryHandlers['groups']>[0]) => handlers.groups(question),
      getFeedback: ({ tenant, id }: { readonly tenant: string; readonly id: string }) =>
        store.getFeedback(tenant, id),
      listFeedback: store.listFeedback,
      getFeedbackToken: ({ hash, nowMs }: { readonly hash: string; readonly nowMs: number }) =>
        store.getFeedbackToken(hash, nowMs),
      listFeedbackTokens: ({ tenant, span }: { readonly tenant: string; readonly span: string }) =>
        store.listFeedbackTokens(tenant, span),
      projectStats: (question: ProjectStatsQuestion) =>
        answered(question, question.projects.map(() => ({ run_count: 7, total_cost: '0.5' }))),
      series: (question: SeriesQuestion) =>
        answered(question, {
          data: question.series.map(({ id }) => ({ series_id: id, value: 1,
            timestamp: '2026-01-01T00:00:00', group: null })
          ),
        }),
    },
    close: () => Promise.resolve(),
  } as unknown as Platform
  const keys = new MemoryKeys()
  const admin = keyAdmin({ table: keys, region: 'us', env: virtualEnv() })
  const door = await openDoor({ platform,
    auth: { keys, region: 'us', regionUrls: { us: '' }, sessions: null,
      addressOf: addressReader([]) } })
  const as = async (tenant: string, role: CallerRole = 'developer') => {
    const { key } = await admin.create({ tenant, role, name: '', expiresInMs: null })
    return (method: string, path: string, body?: unknown) =>
      call(door, method, path, body, { 'x-api-key': key })
  }
  return { send: await as('acme'), as, removed, asked, store, url: door.url,
    asNobody: (method, path, body) => call(door, method, path, body) }
}

/** The list that was answered. */
export function listIn({ json }: Answer): Record<string, unknown>[] {
  return json as unknown as Record<string, unknown>[]
}

/** Removes what callers have stored in the namespace of a deployment, kind by kind. */

import { limitConcurrency } from '../../../cluster/index.ts'
import { HeddleError, ignoreNotFound } from '../../errors.ts'
import type { NamespaceData } from '../../deployment/index.ts'
import type { AssistantClient } from '../../assistants/index.ts'
import type { CronClient } from '../../crons/index.ts'
import type { ItemStore } from '../../items/index.ts'
import type { CatalogClient, Platform } from '../../platform/index.ts'
import { pageBytes } from '../../search/index.ts'
import type { ScatteredIndex } from '../../search/index.ts'
import type { ThreadClient } from '../../thread/index.ts'
import { hasTraces, removePlatformData } from './platform-data.ts'

/** Indexes that find data, and clients that remove it. */
export interface NamespaceDataParts {
  readonly everybody: Pick<ScatteredIndex, 'threads' | 'items' | 'assistants' | 'crons'>
  readonly threads: Pick<ThreadClient, 'delete'>
  readonly items: Pick<ItemStore, 'delete'>
  readonly assistants: Pick<AssistantClient, 'delete'>
  readonly crons: Pick<CronClient, 'delete'>
  readonly catalogs: CatalogClient
  readonly platform: Pick<Platform, 'documents' | 'ingest' | 'query' | 'rules' | 'shares'>
  readonly env: { nowMs(): number }
}

/** Rows that are found together, and how many of them are removed at once. */
const [pageRows, atOnce] = [100, 8]

/** Rows of one kind, and how each is removed. */
interface Kind<Row> {
  find(limit: number): Promise<{ readonly rows: readonly Row[] }>
  remove(row: Row): Promise<void>
}

/**
 * Data of namespaces. Removal begins with crons and threads, which start new work by themselves.
 */
export function namespaceData(parts: NamespaceDataParts): NamespaceData {
  const { everybody, threads, items, assistants, crons, catalogs, platform, env } = parts
  return {
    isEmpty: async (tenant, owner) => {
      const page = { tenant, prefix: [], nowMs: env.nowMs(), limit: 1, offset: 0 }
      const [listed, hidden, found, traced] = await Promise.all([
        everybody.threads.count({ tenant }),
        everybody.threads.count({ tenant, hidden: true }),
        everybody.items.search(page),
        hasTraces({ catalogs, platform, tenant, owner }),
      ])
      return listed + hidden + found.total === 0 && !traced
    },
    remove: async (tenant, owner) => {
      const threadsThat = (filter: { readonly hidden?: boolean }) => ({
        find: (limit: number) =>
          everybody.threads.search({ tenant, ...filter, sortBy: 'thread_id', sortOrder: 'asc',
            limit, offset: 0, bytes: pageBytes }),
        remove: ({ threadId }: { readonly threadId: string }) => threads.delete(tenant, threadId),
      })
      const page = { tenant, offset: 0, bytes: pageBytes }
      return await removeKind({
        find: (limit) =>
          everybody.crons.search({ ...page, sortBy: 'cron_id', sortOrder: 'asc', limit }),
        remove: ({ cronId }) => crons.delete({ tenant, cronId }),
      }) + await removeKind(threadsThat({})) + await removeKind(threadsThat({ hidden: true })) +
        await removeKind({
          find: (limit) =>
            everybody.assistants.search({ ...page, sortBy: 'assistant_id', sortOrder: 'asc',
              limit }),
          remove: ({ assistantId }) => assistants.delete({ tenant, assistantId }),
        }) + await removeKind({
          find: async (limit) => {
            const { rows } = await everybody.items.search({ ...page, prefix: [], nowMs: env.nowMs(),
              limit })
            return { rows: rows.map(({ row }) => row) }
          },
          remove: ({ namespace, key }) => items.delete(tenant, { namespace, key }),
        }) + await removePlatformData({ catalogs, platform, tenant, owner })
    },
  }
}

/** Removes all of a kind, page by page. Returns how many there were. */
async function removeKind<Row>({ find, remove }: Kind<Row>): Promise<number> {
  const inTurn = limitConcurrency(atOnce)
  let limit = pageRows
  for (let count = 0;;) {
    const page = await find(limit).catch((error: unknown) => {
      // Long rows are read one by one.
      if (HeddleError.from(error).code !== 'too_large' || limit === 1) throw error
      limit = 1
    })
    if (page === undefined) continue
    if (page.rows.length === 0) return count
    await Promise.all(page.rows.map((row) => inTurn(() => remove(row).catch(ignoreNotFound))))
    count += page.rows.length
  }
}

/** Prunes threads: those that are named, or those that match a filter. Busy ones stay. */

import { limitConcurrency } from '../../../cluster/index.ts'
import { threadStatuses } from '../../api/index.ts'
import type { PruneThreads } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import type { ExpiryStrategy, MetadataFilter, ThreadFilter, ThreadQuery,
  ThreadStatus } from '../../search/index.ts'
import type { ThreadClient } from '../../thread/index.ts'
import { invalid } from '../schema/validation.ts'
import { filterOfMany } from './thread-filter.ts'

type Threads = Pick<ThreadClient, 'search' | 'count' | 'prune'>

/** Result of a request: threads that were pruned, or the count of a dry run. */
export type Pruned =
  | { readonly pruned_count: number; readonly remaining?: number }
  | { readonly count: number; readonly dry_run: true }

/** Threads that are pruned at once, that are found together, and that one request prunes. */
const [prunedAtOnce, pageThreads, prunedMax] = [16, 100, 1_000]

/** Filters of the threads that a caller may prune. Each named thread may have its own filter. */
export interface PrunableThreads {
  /** For threads that the filter of a request finds; by default all. */
  readonly found?: MetadataFilter | undefined
  /** By id, of threads that a request names; by default all. */
  readonly named?: ReadonlyMap<string, MetadataFilter | undefined>
}

/** Deletes threads or drops their history, or only counts them. Unknown ones are passed over. */
export async function pruneThreads(threads: Threads, tenant: string,
  { thread_ids: ids, filter, strategy: asked, dry_run }: PruneThreads,
  { found: allowed, named }: PrunableThreads = {}): Promise<Pruned> {
  if ((ids == null) === (filter == null)) {
    throw invalid([{ field: '', message: 'Send either thread_ids or filter' }])
  }
  const strategy = asked ?? 'delete'
  const found = filter == null
    ? { tenant, ids: ids! }
    : { ...filterOfMany(tenant, filter), allowed }
  if (dry_run === true) return { count: await countIdle(threads, found), dry_run }
  if (ids != null) {
    const seen = (id: string) => named?.get(id)
    return { pruned_count: await pruneAll(threads, { tenant, ids, strategy, seen }) }
  }
  return pruneMatching(threads, found, strategy)
}

/** Prunes at most as many as one request may. Repeating the request prunes the rest. */
async function pruneMatching(threads: Threads, filter: ThreadFilter,
  strategy: ExpiryStrategy): Promise<Pruned> {
  if (strategy === 'keep_latest') await requireFew(threads, filter)
  let prunedCount = 0
  for (const status of idleStatuses(filter)) {
    const idle = { ...filter, status }
    for (let [offset, more] = [0, true]; more && prunedCount < prunedMax;) {
      const limit = Math.min(pageThreads, prunedMax - prunedCount)
      const sortBy = strategy === 'delete' ? 'updated_at' : 'thread_id'
      const ids = await idsOf(threads, { ...idle, sortBy, offset, limit })
      const { tenant, allowed } = filter
      const pruned = await pruneAll(threads, { tenant, ids, strategy, seen: () => allowed })
      prunedCount += pruned
      // Deleted ones are found no more.
      offset += strategy === 'delete' ? ids.length - pruned : ids.length
      more = ids.length > 0
    }
  }
  const remaining = strategy === 'delete' ? await countIdle(threads, filter) : 0
  return { pruned_count: prunedCount, remaining }
}

/** Threads that keep their newest state match as before, so all of them must go in one request. */
async function requireFew(threads: Threads, filter: ThreadFilter): Promise<void> {
  const count = await countIdle(threads, filter)
  if (count <= prunedMax) return
  throw invalid([{ field: 'filter', message: `matches ${count} threads, and keep_latest takes ` +
    `${prunedMax} at most: narrow it by updated_before and updated_after` }])
}

/** Statuses of threads that may be pruned. */
function idleStatuses({ status }: ThreadFilter): readonly ThreadStatus[] {
  return threadStatuses.filter((each) => each !== 'busy' && (status ?? each) === each)
}

async function countIdle(threads: Threads, filter: ThreadFilter): Promise<number> {
  const counts = await Promise.all(
    idleStatuses(filter).map((status) => threads.count({ ...filter, status })),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Ids of the first threads of a page. Fewer if their rows are long. */
async function idsOf(threads: Threads, page: Omit<ThreadQuery, 'sortOrder'>): Promise<string[]> {
  const query = { ...page, sortOrder: 'asc', withoutValues: true } as const
  try {
    const { threads: ids } = await threads.search(query, ({ row }) => row.threadId)
    return ids
  } catch (error) {
    if (HeddleError.from(error).code !== 'too_large' || page.limit === 1) throw error
    return idsOf(threads, { ...page, limit: 1 })
  }
}

/** The number of threads that were pruned. `seen`: the filter that a thread must match. */
async function pruneAll(threads: Threads,
  { tenant, ids, strategy, seen }: { readonly tenant: string; readonly ids: readonly string[];
    readonly strategy: ExpiryStrategy;
    readonly seen: (id: string) => MetadataFilter | undefined }): Promise<number> {
  const inTurn = limitConcurrency(prunedAtOnce)
  const pruned = await Promise.all(
    [...new Set(ids)].map((id) =>
      inTurn(() => threads.prune(tenant, id, strategy, seen(id)).then(() => true, ignoreUnprunable))
    ),
  )
  return pruned.filter(Boolean).length
}

function ignoreUnprunable(error: unknown): false {
  const { code } = HeddleError.from(error)
  if (code !== 'not_found' && code !== 'busy') throw error
  return false
}

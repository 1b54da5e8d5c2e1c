/** Cancels many runs: some of one thread, or all of a tenant that have a status. */

import { limitConcurrency } from '../../../cluster/index.ts'
import type { ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import { HeddleError, ignoreNotFound } from '../../errors.ts'
import type { MetadataFilter, ThreadFilter } from '../../search/index.ts'
import { statusToCancel } from '../../thread/index.ts'
import type { CancelRun, ThreadClient } from '../../thread/index.ts'

type Threads = Pick<ThreadClient, 'search' | 'cancelRun'>

/** Statuses of threads with unfinished runs. Only in the first is a run executed. */
const unfinishedStatuses = ['busy', 'interrupted', 'error'] as const

/** Threads that are looked at together, and cancels that are under way at once. */
const [pageThreads, cancelsAtOnce] = [100, 16]

/** Looks through all busy threads before it is given up: others may make more all the time. */
const passesMax = 30

/** Cancels these runs of a thread. Resolves when they have ended; false if none exists. */
export async function cancelSome(threads: Threads, tenant: string, threadId: string,
  { runIds, cancel, allowed }: { readonly runIds: readonly string[]; readonly cancel: CancelRun;
    /** Filter that the thread must match in the turn of each cancel. */
    readonly allowed?: MetadataFilter | undefined }): Promise<boolean> {
  const inTurn = limitConcurrency(cancelsAtOnce)
  // The newest first: otherwise, those that wait would start when the one before them ends.
  const ids = [...new Set(runIds)].toSorted().reverse()
  const found = await Promise.all(
    ids.map((runId) =>
      inTurn(() =>
        threads.cancelRun(tenant, threadId, runId, cancel, allowed)
          .then(() => true, (error: unknown) => {
            ignoreNotFound(error)
            return false
          })
      )
    ),
  )
  return found.includes(true)
}

/** Status and threads of the runs of a tenant that are cancelled, and the command. */
export interface CancelAll {
  readonly status: 'pending' | 'running' | 'all'
  readonly cancel: CancelRun
  /** Only runs of threads that match; of all threads by default. */
  readonly filter?: ThreadFilter | undefined
  /** Only runs of threads that the caller may see. */
  readonly allowed?: MetadataFilter | undefined
}

/**
 * Cancels the unfinished runs of a tenant that have the status. It finds them by the rows of
 * threads, so that it loads only threads with such runs. It may miss runs that are created
 * concurrently.
 */
export async function cancelAll(threads: Threads, tenant: string,
  options: CancelAll): Promise<void> {
  for (const group of groupsOf(tenant, options)) {
    const seen = new Set<string>()
    for (let pass = 0; pass < passesMax; pass++) {
      if (!await cancelPass(threads, { ...group, seen })) break
    }
  }
}

/** The groups of threads that may have such runs. A filter never means threads not listed. */
function groupsOf(tenant: string, options: CancelAll): readonly Group[] {
  const { filter } = options
  const hidden = filter === undefined ? [false, true] : [false]
  const statuses = options.status === 'running' ? (['busy'] as const) : unfinishedStatuses
  return statuses.filter((status) => (filter?.status ?? status) === status)
    .flatMap((status) => hidden.map((each) => ({ tenant, hidden: each, status, options })))
}

/** The number of runs that `cancelAll` would cancel now. */
export async function countAll(threads: Threads, tenant: string,
  options: CancelAll): Promise<number> {
  let count = 0
  for (const group of groupsOf(tenant, options)) {
    for await (const rows of pagesOf(threads, group)) {
      const runs = rows.flatMap(({ unfinished }) => unfinished)
      count += runs.filter((run) =>
        options.status === 'all' || statusToCancel(run) === options.status
      ).length
    }
  }
  return count
}

/** Yields all threads of a group, a page at a time. */
async function* pagesOf(threads: Threads,
  group: Group): AsyncGenerator<readonly ThreadRow[], void, void> {
  for (let [offset, limit] = [0, pageThreads];;) {
    const rows = await readPage(threads, group, { offset, limit }).catch(unlessLong(limit))
    if (rows) yield rows
    if (rows && rows.length < limit) return
    offset += rows?.length ?? 0
    if (!rows) limit = 1
  }
}

/** Makes a `catch`: undefined if the rows of a page are too long to be read together. */
function unlessLong(limit: number): (error: unknown) => undefined {
  return (error) => {
    if (HeddleError.from(error).code !== 'too_large' || limit === 1) throw error
    return undefined
  }
}

interface Group {
  readonly tenant: string
  readonly hidden: boolean
  readonly status: typeof unfinishedStatuses[number]
  readonly options: CancelAll
}

interface Pass extends Group {
  /** Runs that were cancelled, or need not be as they had another status. */
  readonly seen: Set<string>
}

/** Looks through all threads of a group once. False if there was nothing left to cancel. */
async function cancelPass(threads: Threads, pass: Pass): Promise<boolean> {
  let isNews = false
  for (let [offset, limit] = [0, pageThreads];;) {
    const rows = await readPage(threads, pass, { offset, limit }).catch(unlessLong(limit))
    if (rows === undefined) {
      limit = 1
      continue
    }
    const cancelled = await Promise.all(rows.map((row) => cancelOf(threads, row, pass)))
    isNews ||= cancelled.includes(true)
    if (rows.length < limit) return isNews
    // Busy threads without unfinished runs are found no more. What that skips, the next pass finds.
    const isEmptied = pass.options.status === 'all' && pass.status === 'busy'
    offset += isEmptied ? cancelled.filter((each) => !each).length : rows.length
  }
}

async function readPage(threads: Threads,
  { tenant, hidden, status, options: { filter, allowed } }: Group,
  page: { readonly offset: number; readonly limit: number }): Promise<ThreadRow[]> {
  const query = { ...filter, allowed, tenant, status, sortBy: 'thread_id', sortOrder: 'asc',
    withoutValues: true, ...page, ...hidden && { hidden } } as const
  const { threads: rows } = await threads.search(query, ({ row }) => row)
  return rows
}

/** False if no run of the thread was to be cancelled. */
async function cancelOf(threads: Threads, { tenant, threadId, unfinished }: ThreadRow,
  { options: { status, cancel, allowed }, seen }: Pass): Promise<boolean> {
  const meant = unfinished.filter((run) =>
    !seen.has(run.runId)
    && (status === 'all' || statusToCancel(run) === status)
  )
  for (const { runId } of unfinished) seen.add(runId)
  if (meant.length === 0) return false
  const runIds = meant.map(({ runId }) => runId)
  const only = status === 'all' ? {} : { only: status }
  await cancelSome(threads, tenant, threadId, { runIds, cancel: { ...cancel, ...only }, allowed })
  return true
}

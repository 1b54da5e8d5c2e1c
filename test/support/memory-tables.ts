/** In-memory twins of the thread index and the run table, built from a log's updates. */

import type { RunRow, ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import { dueAtMs } from '../../src/limits/index.ts'
import { expiryAtMs, isExpired } from '../../src/search/index.ts'
import type { DueThreads, RunQuery, RunTable, ThreadFilter, ThreadIndex,
  UnfinishedThread } from '../../src/search/index.ts'
import { PageBytes } from '../../src/store/page-bytes.ts'
import { withTexts } from '../../src/store/run-texts.ts'
import type { MemoryLog } from './memory-log.ts'

/** The twins over a log. Rows are found by folding every update anew. */
export function memoryTables(
  log: MemoryLog,
): { threads: ThreadIndex; runs: RunTable; /** Threads that a new owner must resume or clean up. */
  unfinished(): Promise<readonly UnfinishedThread[]>; readonly due: DueThreads } {
  const threadRows = (): ThreadRow[] => {
    const rows = log.updates.flatMap((update) => (update.table === 'thread' ? [update.row] : []))
    return [...new Map(rows.map((row) => [row.threadId, row])).values()]
  }
  const runRows = (threadId: string): RunRow[] => {
    const rows = new Map<string, RunRow>()
    for (const update of log.updates) {
      if (update.table === 'run') rows.set(update.row.runId, update.row)
      if (update.table === 'run_removed') rows.delete(update.runId)
    }
    return [...rows.values()].filter((row) => row.threadId === threadId)
  }
  const found = ({ expiredBy, status, hidden }: ThreadFilter) =>
    threadRows().filter((row) =>
      !row.deleted && (status === undefined || row.status === status) &&
      (status === undefined || row.hidden === (hidden ?? false)) &&
      (expiredBy === undefined || !isExpired(row, row.unfinished.length > 0, expiredBy))
    )
  return {
    threads: {
      get: async (_, threadId) => threadRows().find((row) => row.threadId === threadId),
      search: async (query) => ({ rows: found(query), total: found(query).length }),
      count: async (filter) => found(filter).length,
    },
    unfinished: async () =>
      threadRows().filter(({ status, owedWebhooks, unfinished }) =>
        (status === 'busy' && dueAtMs(unfinished) === 0) || owedWebhooks.length > 0
      ),
    due: async ({ atMs, no }, limit) =>
      threadRows()
        .map((row, i) => ({ tenant: row.tenant, threadId: row.threadId,
          atMs: dueAtMs(row.unfinished) || expiryAtMs(row, row.unfinished.length > 0), no: i + 1 })
        )
        .filter((each) => each.atMs > 0 && (each.atMs > atMs || each.atMs === atMs && each.no > no))
        .toSorted((a, b) => a.atMs - b.atMs || a.no - b.no).slice(0, limit),
    runs: {
      search: async () => ({ rows: [], next: undefined }),
      get: async (_, threadId, runId) => runRows(threadId).find((row) => row.runId === runId),
      list: async ({ threadId, limit, offset, texts, bytes }: RunQuery) => {
        const page = new PageBytes(bytes)
        return runRows(threadId).toReversed().slice(offset, offset + limit)
          .map((row) => withTexts(row, page, texts))
      },
    },
  }
}

/**
 * The table of runs with the rows of this member that are not written yet.
 *
 * Rule: [written_first].
 */

import type { RunTable } from '../../../search/index.ts'
import type { Projections } from './projections.ts'

/**
 * Runs of threads that this member owns, as they were acknowledged. A search asks no other member:
 * each must have written its runs before.
 */
export function lateRuns(table: RunTable,
  projections: Pick<Projections, 'runOf' | 'writtenRuns'>): RunTable {
  return {
    get: async (tenant, threadId, runId) =>
      projections.runOf(tenant, threadId, runId) ?? await table.get(tenant, threadId, runId),
    list: async (query) => {
      await projections.writtenRuns(query.tenant, query.threadId)
      return await table.list(query)
    },
    search: (query, cancelled) => table.search(query, cancelled),
  }
}

/** Lists a thread's runs, without rows that are left over from an earlier owner. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { pageBytes } from '../../search/index.ts'
import type { RunQuery } from '../../search/index.ts'
import type { ThreadContext } from '../context/thread-context.ts'

/**
 * Leaves out rows of unfinished runs that the thread does not have: an earlier owner may have
 * written them and acknowledged nothing, and the thread was made again since.
 */
export async function listedRuns(query: RunQuery,
  { ports: { runs, reads }, threadLog, tenant }: ThreadContext,
  cancelled?: AbortSignal): Promise<RunRow[]> {
  const unfinished = () => threadLog.state.runs.map(({ runId }) => runId)
  const before = unfinished()
  await threadLog.durable
  const rows = await reads.read({ tenant, bytes: pageBytes, cancelled },
    ({ left: bytes }) => runs.list({ ...query, bytes }))
  // While the rows were read, some runs may have begun, and others ended.
  const known = new Set([...before, ...unfinished()])
  return rows.filter(({ runId, status }) =>
    (status !== 'pending' && status !== 'running') || known.has(runId)
  )
}

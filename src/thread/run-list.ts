/** The runs of a thread as they are listed: as their rows tell, and as its owner knows. */

import type { RunRow } from '../../proto/gen/storage/v1/row.ts'
import type { RunQuery } from '../records/index.ts'
import type { ThreadSetting } from './thread-setting.ts'

/**
 * A row of a run that is not over, and that the thread does not have, was left by an owner who made
 * the thread, was acknowledged nothing of it, and wrote the row when others had made it again.
 */
export async function listedRuns(query: RunQuery, { ports: { runs }, ledger }: ThreadSetting):
  Promise<RunRow[]> {
  const unfinished = () => ledger.state.runs.map(({ runId }) => runId)
  const before = unfinished()
  await ledger.durable
  const rows = await runs.list(query)
  // Between the two some may have begun, and others ended.
  const known = new Set([...before, ...unfinished()])
  return rows.filter(({ runId, status }) =>
    (status !== 'pending' && status !== 'running') || known.has(runId))
}

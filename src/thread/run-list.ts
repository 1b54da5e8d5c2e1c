/** Lists a thread's runs: their rows, as far as the owner of the thread can vouch for them. */

import type { RunRow } from '../../proto/gen/storage/v1/row.ts'
import type { RunQuery } from '../records/index.ts'
import type { ThreadSetting } from './thread-setting.ts'

/**
 * Leaves out rows of unfinished runs that the thread does not have: an earlier owner may have left
 * them, of whose writes nothing was acknowledged before the thread was made again.
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

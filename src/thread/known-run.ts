/** Runs that were asked for before: by their caller's key, or by the command that made them. */

import type { HeardCommand, RunRow } from '../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../errors.ts'
import type { ThreadSetting } from './thread-setting.ts'
import { newRun } from './unfinished-run.ts'

/** Keys that answer the same when they are repeated: those of this many newest runs. */
const rememberedKeys = 100

/** The run that was started with this Idempotency-Key. */
export async function runOfKey(key: string, setting: ThreadSetting): Promise<RunRow | undefined> {
  if (key === '') return undefined
  const { ports: { runs }, ledger, tenant, threadId } = setting
  // Of the others only the keys are wanted, and their inputs may be large.
  const newest = { tenant, threadId, limit: rememberedKeys, offset: 0, texts: [] }
  const same = (run: RunRow) => run.commandId === key
  const unfinished = ledger.state.runs.find(same)
  if (unfinished) return unfinished
  await ledger.durable
  const known = (await runs.list(newest)).find(same)
  return known && await runs.get(tenant, threadId, known.runId)
}

/** The run as the command made it: it may have been taken out of history since. */
export async function runAsMade(runId: string, { seq }: HeardCommand, { ledger }: ThreadSetting):
  Promise<RunRow> {
  for (const record of await ledger.recordsAt(seq)) {
    if (record.$case !== 'runCreated' || record.value.runId !== runId) continue
    return newRun(ledger.state.row, record.value, seq)
  }
  throw new HeddleError('not_found', `Run ${runId} not found on this thread.`)
}

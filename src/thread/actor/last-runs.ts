/** Reports the last runs of a thread that another owner left: it may have died before it did. */

import type { RunStatus, RunTable } from '../../search/index.ts'
import type { ThreadContext } from '../context/thread-context.ts'

/** Runs that are looked at, and how long an owner may have left them unreported. */
const [runsMax, lateMs] = [20, 60_000]
/** Age of runs that are not reported again: their traces may have been deleted since. */
const oldMs = 24 * 60 * 60 * 1000

const unfinished: ReadonlySet<string> = new Set<RunStatus>(['pending', 'running'])

/** Reports the last runs in the background: runs that are reported again change nothing. */
export function reportLastRuns({ ports, threadLog, tenant, threadId }: ThreadContext): void {
  const { runsEnded, runs, env } = ports
  const { isInherited, state: { row: { lastRunId = '', deleted } } } = threadLog
  if (runsEnded === undefined || !isInherited || lastRunId === '' || deleted) return
  const oldestMs = env.nowMs() - oldMs
  void lastRuns({ runs, tenant, threadId, oldestMs }).then((found) => runsEnded(found, true),
    (error: unknown) => {
      env.log.info('The last runs of a thread could not be read.', { threadId, error })
    })
}

interface LastRunsOptions {
  readonly runs: Pick<RunTable, 'list'>
  readonly tenant: string
  readonly threadId: string
  readonly oldestMs: number
}

async function lastRuns({ runs, tenant, threadId, oldestMs }: LastRunsOptions) {
  const rows = await runs.list({ tenant, threadId, limit: runsMax, offset: 0,
    texts: ['metadataJson', 'planJson'] })
  const ended = rows.filter(({ status, updatedAtMs }) =>
    !unfinished.has(status) && updatedAtMs >= oldestMs
  )
  const newestMs = Math.max(...ended.map(({ updatedAtMs }) => updatedAtMs))
  return ended.filter(({ updatedAtMs }) => updatedAtMs >= newestMs - lateMs)
}

/** Revisions as JSON of the control API. */

import type { ControlRevision } from '../../api/index.ts'
import type { Revision, RevisionUse } from '../../deployment/index.ts'
import { timeText } from '../../json/index.ts'
import { failureJson, timeOrNull } from './deployment-json.ts'

/** A revision. Without `use`, its runs and threads were not counted. */
export function revisionJson(revision: Revision, use: RevisionUse | null): ControlRevision {
  const { name, state, hash, message, by, bytes, files, platform, source, wantsEnv, graphs, reason,
    failures, createdAtMs, expiresAtMs, activeAtMs } = revision
  return { name, state, hash, message, by, bytes, files, platform, source, wants_env: wantsEnv,
    graphs: graphs.map(({ graphId, nodes }) => ({ graph_id: graphId, nodes })), reason,
    failures: failures.map(failureJson), created_at: timeText(createdAtMs),
    expires_at: timeOrNull(expiresAtMs), active_at: timeOrNull(activeAtMs),
    running: use?.running ?? null, waiting_threads: use?.waitingThreads ?? null }
}

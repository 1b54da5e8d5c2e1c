/** Details of a run as JSON of the API, and the error of one that is not there. Pure. */

import type { RunEffects } from '../../api/index.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import type { LoggedLines } from '../../graph/index.ts'
import { HeddleError } from '../../errors.ts'
import { timeText } from '../../json/index.ts'
import type { EffectStatus, RunEffects as Known } from '../../thread/index.ts'

type Shown = RunEffects['effects'][number]

/** The effects in the order in which they began. Results are not shown: they are in the state. */
export function effectsJson({ effects, isCut }: Known): JsonText {
  return JSON.stringify({ effects: effects.map(shown), truncated: isCut } satisfies RunEffects)
}

/** Lines that the code of a run wrote to the console. */
export function logsJson({ lines, dropped, truncated }: LoggedLines): JsonText {
  const shown = lines.map(({ seq, atMs, level, text, node, attempt }) => ({ seq,
    time: timeText(atMs), level, text, node, attempt })
  )
  return JSON.stringify({ lines: shown, dropped, truncated, kept: 'memory' })
}

function shown(effect: EffectStatus): Shown {
  const { rule, ordinal, ns, checkpointId, taskId, key, decision } = effect
  return {
    name: rule,
    ordinal,
    strength: key === undefined && decision === undefined ? 'keep' : 'once',
    status: statusOf(effect),
    key: key ?? null,
    begun_at: timeOf(effect.begunMs),
    settled_at: timeOf(effect.settledMs),
    decision: (decision ?? null) as Shown['decision'],
    decided_at: timeOf(effect.decidedMs),
    checkpoint_ns: ns,
    checkpoint_id: checkpointId,
    task_id: taskId,
  }
}

function statusOf({ settledMs, decision }: EffectStatus): Shown['status'] {
  if (settledMs !== undefined || decision === 'done') return 'done'
  return decision === 'fail' ? 'failed' : 'unknown'
}

function timeOf(ms: number | undefined): string | null {
  return ms === undefined ? null : timeText(ms)
}

/** Makes a `catch`. An error about a stateless run does not mention its hidden thread. */
export function unlessHidden(
  { threadId, runId }: { readonly threadId: string; readonly runId: string },
) {
  return (error: unknown): never => {
    if (threadId !== runId || HeddleError.from(error).code !== 'not_found') throw error
    throw new HeddleError('not_found', `Run ${runId} not found.`)
  }
}

/** Effects of runs: work that happens once. */

import type { RunEffects } from '../../api/index.ts'
import { ask } from '../api/ask.ts'
import { historyOf } from '../api/states.ts'

/** An effect of a run. */
export type Effect = RunEffects['effects'][number]

/** Steps after a place that are looked at, and runs that made them. */
const [stepsMax, runsMax] = [200, 10]

/** Resolves with the effects of a run, oldest first. */
export async function effectsOf(threadId: string, runId: string,
  signal?: AbortSignal): Promise<readonly Effect[]> {
  const { effects } = await ask('GET /threads/:thread_id/runs/:run_id/effects', {
    params: { thread_id: threadId, run_id: runId },
    signal,
  })
  return effects
}

/**
 * Names of the effects that happen again if the thread goes on from a checkpoint: those of the
 * newest runs that were begun there or later.
 */
export async function repeatedFrom(threadId: string, checkpointId: string,
  signal?: AbortSignal): Promise<readonly string[]> {
  const steps = await historyOf(threadId, { limit: stepsMax,
    select: ['checkpoint_id', 'metadata.run_id'] }, signal)
  // Ids of checkpoints grow with time.
  const runs = new Set(steps.filter(({ checkpoint_id: id }) => (id ?? '') >= checkpointId)
    .flatMap(({ metadata }) => metadata?.run_id ?? []))
  const found = await Promise.all([...runs].slice(0, runsMax)
    .map((run) => effectsOf(threadId, run, signal).catch(() => [])))
  return namesDoneOutside(found.flat().filter(({ checkpoint_id: id }) => id >= checkpointId))
}

/** Names of what was done outside, or may have been: it stays, and is done again if its run is. */
export function namesDoneOutside(effects: readonly Effect[]): readonly string[] {
  const done = effects.filter(({ strength, status }) => strength === 'once' && status !== 'failed')
  return [...new Set(done.map(({ name }) => name))]
}

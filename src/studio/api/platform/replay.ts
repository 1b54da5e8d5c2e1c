/** Place in its thread of a span of a run of this server, and running it again from there. */

import { ask } from '../ask.ts'
import { createRun } from '../runs.ts'
import { historyOf } from '../states.ts'
import { copyThread } from '../threads.ts'
import type { Span } from './traces.ts'

/** A run of this server, and the number of its step; null for the whole run. */
export interface OwnStep {
  readonly threadId: string
  readonly runId: string
  readonly step: number | null
}

/** Checkpoints before and after a step. */
export interface StepPlace {
  /** Checkpoint that the step led to; the one that it began with, if it led to none. */
  readonly at: string
  /** Checkpoint that the step began with; null if the thread no longer has it. */
  readonly before: string | null
}

/** The step of a span; null if no run of this server made it. */
export function ownStepOf({ metadata, trace_id: trace }: Pick<Span, 'metadata' | 'trace_id'>):
  | OwnStep
  | null {
  const { thread_id: threadId, run_id: runId, langgraph_step: step } = metadata ?? {}
  // The root of a run of this server has the id of that run.
  if (typeof threadId !== 'string' || typeof runId !== 'string' || runId !== trace) return null
  return { threadId, runId, step: typeof step === 'number' ? step : null }
}

/** Finds the checkpoints of a step; null if the thread no longer has them. */
export async function placeOfStep({ threadId, runId, step }: OwnStep): Promise<StepPlace | null> {
  const newest = async (metadata: Readonly<Record<string, unknown>>) => {
    const [found] = await historyOf(threadId, { limit: 1, metadata,
      select: ['checkpoint_id', 'parent_checkpoint_id'] })
    const { checkpoint_id: at, parent_checkpoint_id: before = null } = found ?? {}
    return at == null ? undefined : { at, before }
  }
  if (step === null) {
    const [last, first] = await Promise.all([newest({ run_id: runId }),
      newest({ run_id: runId, source: 'input' })])
    return last === undefined
      ? null
      : { at: last.at, before: first?.at ?? null }
  }
  const after = await newest({ run_id: runId, step })
  if (after !== undefined) return after
  // A step that failed, or that waits for somebody, has led to no checkpoint.
  const before = await newest({ run_id: runId, step: step - 1 }) ??
    await newest({ step: step - 1 })
  return before === undefined
    ? null
    : { at: before.at, before: before.at }
}

/** Runs again from a checkpoint: as a branch of the thread, or in a copy. Returns the thread. */
export async function runAgain({ threadId, runId }: OwnStep, checkpointId: string,
  place: 'branch' | 'copy'): Promise<string> {
  const { assistant_id: assistant } = await ask('GET /threads/:thread_id/runs/:run_id', {
    params: { thread_id: threadId, run_id: runId },
  })
  const start = { assistant_id: assistant, input: null, stream_subgraphs: true,
    stream_resumable: true, on_disconnect: 'continue' } as const
  if (place === 'branch') {
    await createRun(threadId, { ...start, checkpoint_id: checkpointId })
    return threadId
  }
  const { thread_id: copy } = await copyThread(threadId, checkpointId)
  await createRun(copy, start)
  return copy
}

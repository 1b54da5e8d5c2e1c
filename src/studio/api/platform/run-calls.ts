/** Recorded outgoing calls of a run, and the calls for them. */

import type { RunCall, RunCallBodies, RunCallBody, RunCalls } from '../../../api/index.ts'
import { ask } from '../ask.ts'

export type { RunCall, RunCallBody, RunCalls }

/** Resolves with the recorded calls of a run, without their bodies. */
export const callsOf = (threadId: string, runId: string, signal?: AbortSignal): Promise<RunCalls> =>
  ask('GET /threads/:thread_id/runs/:run_id/calls', {
    params: { thread_id: threadId, run_id: runId },
    signal,
  })

/** Resolves with one call and its two bodies. */
export const bodiesOf = (threadId: string, runId: string, no: number,
  signal?: AbortSignal): Promise<RunCallBodies> =>
  ask('GET /threads/:thread_id/runs/:run_id/calls/:no', {
    params: { thread_id: threadId, run_id: runId, no: String(no) },
    signal,
  })

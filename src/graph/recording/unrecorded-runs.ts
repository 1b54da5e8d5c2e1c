/** Ended runs of a process whose recording has not arrived, so that a loss is logged. */

import type { Env } from '../../../cluster/index.ts'
import type { TraceBody } from '../engine/step-traces.ts'
import { isSampled } from '../engine/trace-sample.ts'
import type { Execution } from '../execution.ts'

/** Milliseconds within which a process that lives hands over a recording. */
const handedOverMs = 10_000

/**
 * Tracks which runs of a process may lose their recording if it ends now. A run that made no calls
 * hands nothing over, so a run counts for some seconds only.
 */
export class UnrecordedRuns {
  readonly #env: Pick<Env, 'monotonicMs' | 'log'>
  readonly #ratio: number
  /** By run id, the oldest first. */
  readonly #runs = new Map<string, { readonly threadId: string; readonly atMs: number }>()

  /** `ratio` is the share of runs that are recorded. */
  constructor(env: Pick<Env, 'monotonicMs' | 'log'>, ratio: number) {
    this.#env = env
    this.#ratio = ratio
  }

  ended({ request, runId, threadId }: Execution): void {
    if (request.kind !== 'run' || !isSampled(runId, this.#ratio)) return
    this.#prune()
    this.#runs.set(runId, { threadId, atMs: this.#env.monotonicMs() })
  }

  /** Handles a body that has arrived: the last block of a recording follows the end of its run. */
  received(body: TraceBody): void {
    if (body.form === 'recording') this.#runs.delete(body.runId)
  }

  clear(): void {
    this.#runs.clear()
  }

  /** Logs a warning for each run that is left. */
  warn(reason: string): void {
    this.#prune()
    for (const [runId, { threadId }] of this.#runs) {
      this.#env.log.warn('The recording of a run may be lost with its process.', { threadId, runId,
        reason })
    }
    this.#runs.clear()
  }

  #prune(): void {
    const sinceMs = this.#env.monotonicMs() - handedOverMs
    for (const [runId, { atMs }] of this.#runs) if (atMs < sinceMs) this.#runs.delete(runId)
  }
}

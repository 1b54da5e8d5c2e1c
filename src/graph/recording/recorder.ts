/** Records the calls of a share of a worker's runs. Lives in the worker. */

import type { Execution } from '../execution.ts'
import { isSampled } from '../engine/trace-sample.ts'
import type { OpenGate } from '../calls/call-scope.ts'
import type { HideSecrets } from './hidden-bytes.ts'
import { RecordingRoom } from './recording-room.ts'
import { maskedCall, maskedRun } from './masked-call.ts'
import type { Mask } from './project-mask.ts'
import { RunRecording } from './run-recording.ts'
import type { PackedRun, RunRecordingParts } from './run-recording.ts'
import { RunSecrets } from './run-secrets.ts'
import { isStateless, labelOf, packedRun } from './stateless-run.ts'
import type { RunEnding } from './stateless-run.ts'

/** A block on its way out of the worker. */
export interface BlockToKeep {
  readonly tenant: string
  readonly runId: string
  /** Begin of its execution, and its number there. */
  readonly startedAtMs: number
  readonly no: number
  readonly packed: Uint8Array
  /** By which a stateless run is found: no index of runs has it when its thread is gone. */
  readonly label?: string
}

/** Share of runs, and ports of a recorder. */
export interface RecorderOptions {
  /** Share of runs that are recorded, from 0 to 1. */
  readonly ratio: number
  /** Answers with an HTTP status. */
  readonly send: (block: BlockToKeep) => Promise<number>
  readonly hide: HideSecrets
  /** The project's own redaction, once its code is loaded; undefined for none. */
  readonly mask: () => Mask | undefined
  /** Is called with the reason if that redaction fails, once for each run. */
  readonly maskFailed: (runId: string, reason: unknown) => void
  /** Is called for each block that could not be written, with the last HTTP status. */
  readonly lost: (run: Pick<Execution, 'threadId' | 'runId'>, status: number) => void
  readonly nowMs: () => number
  readonly monotonicMs: () => number
  readonly after: (ms: number, work: () => void) => unknown
}

/** Tries to hand a block over, and milliseconds between them. */
const [tries, betweenMs] = [3, 1_000]

/** The recordings of one worker. */
export class Recorder {
  readonly #options: RecorderOptions
  readonly #waiting = { bytes: 0 }
  readonly #running = new Map<number, RunRecording>()
  readonly #sending = new Set<Promise<unknown>>()

  constructor(options: RecorderOptions) {
    this.#options = options
  }

  /** Opens the recording of a run; an edit makes no calls of interest. */
  readonly openGate: OpenGate = ({ execution }) => {
    const { id, tenant, runId, threadId, graphId, attempt, start = 1, request } = execution
    const { ratio, nowMs, monotonicMs, hide } = this.#options
    if (request.kind !== 'run' || !isSampled(runId, ratio)) return undefined
    const startedAtMs = nowMs()
    const run = { runId, threadId, graphId, attempt, start, startedAtMs }
    const recording = new RunRecording(run, {
      ...this.#maskOf(runId),
      room: new RecordingRoom(this.#waiting),
      secrets: new RunSecrets(hide),
      nowMs,
      monotonicMs,
      send: (no, packed, label) =>
        this.#keep({ tenant, runId, startedAtMs, no, packed, ...label && { label } }, threadId),
    })
    this.#running.set(id, recording)
    return recording
  }

  /**
   * Hands over the rest of an execution's recording. Nothing waits for it. Without an ending the
   * run has not ended with it.
   */
  ended(execution: Execution, ending?: RunEnding): void {
    const recording = this.#running.get(execution.id)
    if (recording === undefined) return
    this.#running.delete(execution.id)
    const label = ending && isStateless(execution) ? labelOf(execution, ending) : undefined
    this.#follow(ending === undefined || label === undefined
      ? recording.ended()
      : recording.ended((hide) => this.#packed(execution, ending, hide), label))
  }

  /** Resolves when all that ended before is written, or could not be. */
  async flush(): Promise<void> {
    while (this.#sending.size > 0) await Promise.all(this.#sending)
  }

  #maskOf(runId: string): Pick<RunRecordingParts, 'mask'> {
    const mask = this.#options.mask()
    if (mask === undefined) return {}
    let hasFailed = false
    return { mask: (call) =>
      maskedCall(call, mask, (reason) => {
        if (!hasFailed) this.#options.maskFailed(runId, reason)
        hasFailed = true
      }) }
  }

  #packed(execution: Execution, ending: RunEnding, hide: HideSecrets): PackedRun {
    const { mask: maskNow, maskFailed } = this.#options
    const packed = packedRun(execution, ending, hide)
    const mask = maskNow()
    return packed === undefined || mask === undefined
      ? packed
      : maskedRun(packed, mask, (reason) => maskFailed(execution.runId, reason))
  }

  #keep(block: BlockToKeep, threadId: string): Promise<void> {
    return this.#follow(this.#tried(block).then((status) => {
      if (status >= 400) this.#options.lost({ threadId, runId: block.runId }, status)
    }))
  }

  /** The HTTP status of the last try. */
  async #tried(block: BlockToKeep): Promise<number> {
    for (let left = tries;; left--) {
      const status = await this.#options.send(block)
      if (status < 500 || left <= 1) return status
      await new Promise<void>((go) => void this.#options.after(betweenMs, go))
    }
  }

  #follow<Result>(work: Promise<Result>): Promise<Result> {
    this.#sending.add(work)
    const over = () => this.#sending.delete(work)
    work.then(over, over)
    return work
  }
}

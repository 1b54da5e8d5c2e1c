/** The graph processes of one replay: that of the revision to try, and one of a recorded one. */

import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { executeReplay } from '../../graph/index.ts'
import type { Execution, ReplayedRun } from '../../graph/index.ts'
import type { Deployment } from '../deployment.ts'
import type { ReplayProcess, Serving } from '../serving/serving.ts'
import type { RecordedRun } from './recorded-run.ts'

/** Ports of the processes. */
export interface ReplayProcessParts {
  readonly serving: Pick<Serving, 'openReplay'>
  readonly deployment: Deployment
  readonly limitMs: number
  readonly signal: AbortSignal
  readonly env: Pick<Env, 'after' | 'monotonicMs'>
}

/** Revisions that are loaded at a time. */
const loadedMax = 2

/** Loads revisions as they are needed, and executes one replay at a time on each. */
export class ReplayProcesses {
  readonly #parts: ReplayProcessParts
  readonly #open = new Map<string, Promise<ReplayProcess>>()
  /** Revisions that cannot be loaded. */
  readonly #faults = new Map<string, string>()
  #executions = 0

  constructor(parts: ReplayProcessParts) {
    this.#parts = parts
  }

  /**
   * Replays a run on a revision. A text is the reason for which the revision cannot execute it. A
   * process that is late or has died is replaced; what it died with is tried once more, as
   * something else may have ended it.
   */
  async execute(revision: string, recorded: RecordedRun,
    place: Pick<Execution, 'tenant' | 'threadId' | 'runId'>): Promise<ReplayedRun | string> {
    const run = await this.#try(revision, recorded, place)
    const isLost = typeof run !== 'string' && run.end === 'lost'
    return isLost ? await this.#try(revision, recorded, place) : run
  }

  async #try(revision: string, recorded: RecordedRun,
    place: Pick<Execution, 'tenant' | 'threadId' | 'runId'>): Promise<ReplayedRun | string> {
    const { limitMs, signal, env } = this.#parts
    const process = await this.#process(revision)
    if (typeof process === 'string') return process
    const { begin: { graphId, request, headId }, blocks, startedAtMs, source } = recorded
    const graph = process.graph.describe(graphId)
    if (graph === undefined) return `${revision} has no graph "${graphId}".`
    if (graph.failed) return `${revision} cannot load "${graphId}": ${graph.failure ?? ''}`
    const run = await executeReplay(process.graph, { source, limitMs, signal,
      execution: { ...place, id: ++this.#executions, graphId, attempt: 1, headId, request,
        replay: { blocks, startedAtMs } } }, env)
      // It may still be executing, or spoil the next run.
      .catch(async (error: unknown) => {
        await this.#end(revision)
        throw error
      })
    if (run.end !== 'ended') await this.#end(revision)
    return run
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((revision) => this.#end(revision)))
  }

  async #process(revision: string): Promise<ReplayProcess | string> {
    const { serving, deployment, signal } = this.#parts
    const fault = this.#faults.get(revision)
    if (fault !== undefined) return fault
    const opening = this.#open.get(revision) ?? (async () => {
      // The one that was not used for the longest time makes room.
      const [oldest] = this.#open.keys()
      if (this.#open.size >= loadedMax && oldest !== undefined) await this.#end(oldest)
      return await serving.openReplay(deployment, revision, signal)
    })()
    this.#open.delete(revision)
    this.#open.set(revision, opening)
    try {
      return await opening
    } catch (error) {
      this.#open.delete(revision)
      const { retry, message } = HeddleError.from(error)
      if (retry !== 'no') throw error
      this.#faults.set(revision, `${revision} cannot be loaded: ${message}`)
      return this.#faults.get(revision)!
    }
  }

  async #end(revision: string): Promise<void> {
    const opening = this.#open.get(revision)
    this.#open.delete(revision)
    await opening?.then((process) => process.close(), () => {})
  }
}

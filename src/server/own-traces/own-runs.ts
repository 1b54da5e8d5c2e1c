/** Hands the runs of this member that have ended to the platform, where each is a trace. */

import { LRUCache } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../errors.ts'
import { textAt, valueIn } from '../../json/index.ts'
import type { OwnRun, Platform } from '../../platform/index.ts'
import type { RunStatus } from '../../search/index.ts'

/** Time that runs wait to be handed over together, and runs that do not wait. */
const [pauseMs, togetherMax] = [1_000, 1_000]
/** Runs that wait while the store of traces cannot be written to. The oldest are left out then. */
const [waitingMax, leftOut] = [10_000, 1_000]
/** Characters of metadata beyond which none of it can be searched for. */
const metadataCharacters = 64 * 1024
/** Runs that were handed over lately. */
const knownMax = 10_000

/** A run that waits, without its input: that may be long. */
interface WaitingRun {
  readonly tenant: string
  readonly run: OwnRun
}

/** Runs that wait to be handed over. */
export class OwnRuns {
  readonly #env: Pick<Env, 'after' | 'log'>
  readonly #isTraced: (runId: string) => boolean
  #platform: Pick<Platform, 'ingest'> | undefined
  #waiting: WaitingRun[] = []
  #stopTimer: (() => void) | undefined
  #handingOver: Promise<void> | undefined
  /** The last try failed: the next one is in a while, or at the next question. */
  #failed = false
  #closed = false
  /** Threads report their last runs when they are opened: once is enough. */
  readonly #known = new LRUCache<string, true>({ max: knownMax })
  /** Deleted runs, each with its report if a concurrent hand-over of the run failed. */
  readonly #forgotten = new LRUCache<string, { report?: WaitingRun }>({ max: knownMax })

  /** Runs that `isTraced` are left out: their traces are made elsewhere. */
  constructor(env: Pick<Env, 'after' | 'log'>, isTraced: (runId: string) => boolean = () => false) {
    this.#env = env
    this.#isTraced = isTraced
  }

  /** From now on runs are handed over to this platform. */
  handOverTo(platform: Pick<Platform, 'ingest'>): void {
    this.#platform = platform
  }

  /**
   * Takes runs that have ended. They can be found before the next query returns. `repeated`:
   * they were probably handed over before, by another owner of their thread.
   */
  ended(runs: readonly RunRow[], repeated = false): void {
    for (const run of runs) {
      const key = keyOf(run)
      if (this.#closed || run.startedAtMs === 0 || this.#known.has(key)) continue
      if (this.#isTraced(run.runId)) continue
      this.#known.set(key, true)
      this.#waiting.push({ tenant: run.tenant,
        run: { ...ownRunOf(run), ...repeated && { repeated } } })
    }
    if (this.#waiting.length === 0) return
    if (this.#waiting.length > waitingMax) {
      // Many at once, for each time is a line of the log.
      const count = this.#waiting.splice(0, this.#waiting.length - waitingMax + leftOut).length
      this.#env.log.warn('Runs are left out of the traces: they cannot be written.', { count })
    }
    const isFree = this.#handingOver === undefined && !this.#failed
    if (isFree && this.#waiting.length >= togetherMax) void this.#begin()
    else this.#wait(pauseMs)
  }

  /**
   * Drops these runs, now and when they are reported again. The returned function takes them back:
   * their deletion failed.
   */
  forget(runs: readonly Pick<RunRow, 'tenant' | 'runId'>[]): () => void {
    const gone = new Set(runs.map(keyOf))
    const added = [...gone].filter((key) => !this.#known.has(key))
    for (const key of gone) {
      this.#known.set(key, true)
      this.#forgotten.set(key, {})
    }
    const isGone = ({ tenant, run: { id: runId } }: WaitingRun) =>
      gone.has(keyOf({ tenant, runId }))
    const dropped = this.#waiting.filter(isGone)
    this.#waiting = this.#waiting.filter((each) => !isGone(each))
    return () => {
      for (const key of added) this.#known.delete(key)
      const failed = [...gone].flatMap((key) => this.#forgotten.get(key)?.report ?? [])
      for (const key of gone) this.#forgotten.delete(key)
      if (dropped.length + failed.length === 0 || this.#closed) return
      this.#waiting.push(...dropped, ...failed)
      this.#wait(pauseMs)
    }
  }

  /**
   * Resolves when all runs that ended before are handed over, or could not be; undefined if there
   * are none.
   */
  settled(): Promise<void> | undefined {
    const handingOver = this.#handingOver
    if (handingOver === undefined) return this.#begin()
    return this.#waiting.length === 0
      ? handingOver
      : handingOver.then(() => this.#handingOver ?? this.#begin())
  }

  /**
   * Hands over what waits. Later runs are reported again when their threads are opened, so that
   * nothing asks a platform that is closed.
   */
  async close(): Promise<void> {
    this.#closed = true
    await this.settled()
    this.#waiting = []
    this.#stopTimer?.()
    this.#stopTimer = undefined
  }

  #begin(): Promise<void> | undefined {
    if (this.#waiting.length === 0 || this.#platform === undefined) return undefined
    this.#stopTimer?.()
    this.#stopTimer = undefined
    const runs = this.#waiting
    this.#waiting = []
    this.#handingOver = this.#handOver(this.#platform, runs).finally(() => {
      this.#handingOver = undefined
    })
    return this.#handingOver
  }

  async #handOver(platform: Pick<Platform, 'ingest'>, runs: readonly WaitingRun[]): Promise<void> {
    const again: WaitingRun[] = []
    let [refused, error]: [number, HeddleError | undefined] = [0, undefined]
    for (let from = 0; from < runs.length; from += togetherMax) {
      const byTenant = Map.groupBy(runs.slice(from, from + togetherMax), ({ tenant }) => tenant)
      await Promise.all([...byTenant].map(async ([tenant, own]) => {
        const failure = await failureOf(platform, tenant, own.map(({ run }) => run))
        if (failure === undefined) return
        error = failure
        if (mayWorkLater(failure)) again.push(...own)
        else refused += own.length
      }))
      // The store is out of reach for all of them.
      if (again.length >= togetherMax) {
        again.push(...runs.slice(from + togetherMax))
        break
      }
    }
    if (refused > 0) {
      this.#env.log.warn('Runs are left out of the traces: they are refused.', { count: refused,
        error })
    }
    const wanted = again.filter((report) => this.#isWanted(report))
    this.#failed = wanted.length > 0
    if (this.#failed && !this.#closed) this.#keep(wanted, error)
  }

  /** Returns false for the report of a run that was deleted while it was handed over. */
  #isWanted(report: WaitingRun): boolean {
    const forgotten = this.#forgotten.get(keyOf({ ...report, runId: report.run.id }))
    if (forgotten !== undefined) forgotten.report = report
    return forgotten === undefined
  }

  #keep(runs: readonly WaitingRun[], error: HeddleError | undefined): void {
    const count = runs.length
    this.#env.log.warn('Runs are not among the traces yet: they are handed over again.', { count,
      error })
    this.#waiting.unshift(...runs)
    this.#stopTimer?.()
    this.#stopTimer = undefined
    this.#wait(againMs)
  }

  #wait(ms: number): void {
    this.#stopTimer ??= this.#env.after(ms, () => {
      this.#stopTimer = undefined
      void this.settled()
    })
  }
}

function keyOf({ tenant, runId }: Pick<RunRow, 'tenant' | 'runId'>): string {
  return `${runId} ${tenant}`
}

/** Time after which runs that could not be handed over are tried again. */
const againMs = 5_000

async function failureOf(platform: Pick<Platform, 'ingest'>, tenant: string,
  runs: readonly OwnRun[]): Promise<HeddleError | undefined> {
  try {
    // A platform that is closed throws when it is asked for.
    await platform.ingest.ownRuns({ tenant, runs })
    return undefined
  } catch (error) {
    return HeddleError.from(error)
  }
}

function mayWorkLater({ httpStatus, retry }: HeddleError): boolean {
  return httpStatus >= 500 && retry !== 'no'
}

/** A cancelled run counts as an error of its trace. */
const failures: ReadonlySet<string> = new Set<RunStatus>(['error', 'timeout', 'interrupted'])
const unfinished: ReadonlySet<string> = new Set<RunStatus>(['pending', 'running'])

/** A run as the platform gets it: one that has not ended has no end yet. */
export function ownRunOf(
  { threadId: thread, runId: id, assistantId: assistant, status, planJson, metadataJson,
    startedAtMs, createdAtMs, updatedAtMs }: RunRow,
): OwnRun {
  const graph = textAt(valueIn(planJson), 'graphId') ?? ''
  return { id, thread, assistant, graph, startMs: startedAtMs || createdAtMs,
    endMs: unfinished.has(status) ? null : updatedAtMs, failed: failures.has(status),
    metadataJson: metadataJson.length > metadataCharacters ? '' : metadataJson }
}

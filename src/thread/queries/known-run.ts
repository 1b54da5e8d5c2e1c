/** Finds runs that were started before: by their caller's key, or by the command that made them. */

import type { AppliedCommand, RemovedKey, RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../errors.ts'
import { cautiousNowMs } from '../context/thread-context.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { keyMs, removedKeysMax, removedKeysOf } from '../model/removed-keys.ts'
import type { StartRun } from '../model/thread-client.ts'
import { newRun } from '../model/unfinished-run.ts'

/** Newest runs whose keys are known however old they are. */
const newestRuns = 100
/** Runs that are read at a time beyond these. */
const pageRuns = 1_000
/** Runs that are read for each key that may be kept. */
const runsPerKey = 10

/** Runs whose newest repetition is known. */
const repeatsMax = 64

interface KnownRun {
  readonly runId: string
  readonly createdAtMs: number
}

/** The runs of a thread by their Idempotency-Keys. */
export class KeyedRuns {
  readonly #context: ThreadContext
  /**
   * Runs by key, the oldest first. Read only once, because the rows may be long. Not an LRUCache,
   * because that reserves memory for each thread.
   */
  #runs: Map<string, KnownRun> | undefined
  /** Times of repeated requests by their runs, the oldest first. Clock: monotonic. */
  readonly #repeats = new Map<string, number>()
  /** Keys of runs that were created before this time are not all known. */
  #knownSinceMs = 0

  constructor(context: ThreadContext) {
    this.#context = context
  }

  /**
   * The run that was started with this key. Throws `not_found` if that run was removed, and `full`
   * if the thread has more keys than are kept.
   */
  async get(key: string): Promise<RunRow | undefined> {
    if (key === '') return undefined
    const { ports: { runs }, threadLog, tenant, threadId } = this.#context
    const { state } = threadLog
    const unfinished = state.runs.find(({ commandId }) => commandId === key)
    if (unfinished) return unfinished
    const removed = removedKeysOf(state.row).findLast((each) => each.key === key)
    if (removed !== undefined && this.#isRecent(removed)) return await this.#removed(removed)
    await threadLog.durable
    this.#runs ??= await this.#read()
    const known = this.#runs.get(key)
    if (known !== undefined) return await runs.get(tenant, threadId, known.runId)
    this.#requireAllKnown()
    return undefined
  }

  /** Notes that the request of a run was repeated: its client waits for the run again. */
  repeated(runId: string): void {
    this.#repeats.delete(runId)
    this.#repeats.set(runId, this.#context.ports.env.monotonicMs())
    if (this.#repeats.size > repeatsMax) this.#repeats.delete(this.#repeats.keys().next().value!)
  }

  /** True if the request of a run was repeated within these milliseconds. */
  wasRepeated(runId: string, withinMs: number): boolean {
    const atMs = this.#repeats.get(runId)
    return atMs !== undefined && this.#context.ports.env.monotonicMs() - atMs < withinMs
  }

  /** Keys that are in memory. */
  get known(): Iterable<string> {
    return this.#runs?.keys() ?? []
  }

  /** Notes a run that was made after `get` did not find its key. */
  add({ commandId: key, runId }: Pick<StartRun, 'commandId' | 'runId'>): void {
    if (key === '' || this.#runs === undefined) return
    const { ports: { env, limits: { keys } } } = this.#context
    this.#runs.delete(key)
    this.#runs.set(key, { runId, createdAtMs: env.nowMs() })
    for (const [oldest, { createdAtMs }] of this.#runs) {
      if (this.#runs.size <= keys) break
      this.#runs.delete(oldest)
      this.#knownSinceMs = Math.max(this.#knownSinceMs, createdAtMs + 1)
    }
  }

  /** A clock that jumps ahead must not end keys early. */
  #isRecent({ createdAtMs }: Pick<KnownRun, 'createdAtMs'>): boolean {
    return cautiousNowMs(this.#context) - createdAtMs < keyMs
  }

  /** A message that another run has taken is returned as it was made. */
  async #removed({ taken, runId, createdSeq: seq }: RemovedKey): Promise<RunRow> {
    if (taken) return await runAsMade(runId, { seq }, this.#context)
    throw new HeddleError('not_found', `Run ${runId} of this Idempotency-Key was deleted.`)
  }

  /** Throws `full` if a key of the last 24 hours may have been forgotten. */
  #requireAllKnown(): void {
    const { threadLog: { state }, threadId } = this.#context
    const removed = removedKeysOf(state.row)
    const isCut = this.#isRecent({ createdAtMs: this.#knownSinceMs })
      || (removed.length >= removedKeysMax && this.#isRecent(removed[0]!))
    if (!isCut) return
    throw new HeddleError('full', `Thread ${threadId} has too many Idempotency-Keys of the last ` +
      '24 hours; send the request without one, or use another thread.')
  }

  /** Reads the newest runs, and all of the last 24 hours as far as there is room. */
  async #read(): Promise<Map<string, KnownRun>> {
    const { ports: { runs, limits: { keys } }, tenant, threadId } = this.#context
    const found: (readonly [string, KnownRun])[] = []
    for (let offset = 0, limit = newestRuns;; limit = pageRuns) {
      const page = await runs.list({ tenant, threadId, limit, offset, texts: [] })
      for (const { commandId, runId, createdAtMs } of page) {
        const isKept = offset === 0 || this.#isRecent({ createdAtMs })
        if (commandId !== '' && isKept) found.push([commandId, { runId, createdAtMs }])
      }
      offset += page.length
      const last = page.at(-1)
      if (last === undefined || page.length < limit || !this.#isRecent(last)) break
      if (found.length < keys && offset < keys * runsPerKey) continue
      this.#knownSinceMs = last.createdAtMs
      break
    }
    return new Map(found.toReversed())
  }
}

/** The run as the command made it, read from the log: it may have been deleted since. */
export async function runAsMade(runId: string, { seq }: Pick<AppliedCommand, 'seq'>,
  { threadLog }: ThreadContext): Promise<RunRow> {
  for (const record of await threadLog.recordsAt(seq)) {
    if (record.$case !== 'runCreated' || record.value.runId !== runId) continue
    return newRun(threadLog.state.row, record.value, seq)
  }
  throw new HeddleError('not_found', `Run ${runId} not found on this thread.`)
}

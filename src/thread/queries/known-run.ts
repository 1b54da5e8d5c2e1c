/** Finds runs that were started before: by their caller's key, or by the command that made them. */

import type { AppliedCommand, RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../errors.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import type { StartRun } from '../model/thread-client.ts'
import { newRun } from '../model/unfinished-run.ts'

/** A repeated key finds its run among this many of the newest runs. */
const rememberedKeys = 100

/** The runs of a thread by their Idempotency-Keys. */
export class KeyedRuns {
  readonly #context: ThreadContext
  /**
   * Run ids by key, the oldest first: read only once, for the rows may be long. No LRUCache: it
   * reserves memory, and there is one of these a thread.
   */
  #ids: Map<string, string> | undefined

  constructor(context: ThreadContext) {
    this.#context = context
  }

  /** The run that was started with this key. */
  async get(key: string): Promise<RunRow | undefined> {
    if (key === '') return undefined
    const { ports: { runs }, threadLog, tenant, threadId } = this.#context
    const unfinished = threadLog.state.runs.find(({ commandId }) => commandId === key)
    if (unfinished) return unfinished
    await threadLog.durable
    this.#ids ??= await this.#read()
    const runId = this.#ids.get(key)
    return runId === undefined ? undefined : runs.get(tenant, threadId, runId)
  }

  /** Keys that are in memory. */
  get known(): Iterable<string> {
    return this.#ids?.keys() ?? []
  }

  /** Notes a run that was made after `get` did not find its key. */
  add({ commandId: key, runId }: Pick<StartRun, 'commandId' | 'runId'>): void {
    if (key === '' || this.#ids === undefined) return
    this.#ids.delete(key)
    this.#ids.set(key, runId)
    if (this.#ids.size > rememberedKeys) this.#ids.delete(this.#ids.keys().next().value!)
  }

  async #read(): Promise<Map<string, string>> {
    const { ports: { runs }, tenant, threadId } = this.#context
    const newest = { tenant, threadId, limit: rememberedKeys, offset: 0, texts: [] }
    const keyed = (await runs.list(newest)).filter(({ commandId }) => commandId !== '')
    return new Map(keyed.toReversed().map(({ commandId, runId }) => [commandId, runId]))
  }
}

/** The run as the command made it, read from the log: it may have been deleted since. */
export async function runAsMade(runId: string, { seq }: AppliedCommand,
  { threadLog }: ThreadContext): Promise<RunRow> {
  for (const record of await threadLog.recordsAt(seq)) {
    if (record.$case !== 'runCreated' || record.value.runId !== runId) continue
    return newRun(threadLog.state.row, record.value, seq)
  }
  throw new HeddleError('not_found', `Run ${runId} not found on this thread.`)
}

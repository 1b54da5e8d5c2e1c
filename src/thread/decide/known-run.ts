/** Finds runs that were started before: by their caller's key, or by the command that made them. */

import type { HeardCommand, RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../errors.ts'
import type { ThreadSetting } from '../context/thread-context.ts'
import type { StartRun } from '../model/thread-client.ts'
import { newRun } from '../model/unfinished-run.ts'

/** A repeated key finds its run among this many of the newest runs. */
const rememberedKeys = 100

/** The runs of a thread by their Idempotency-Keys. */
export class KeyedRuns {
  readonly #setting: ThreadSetting
  /** Run ids by key, the oldest first: read only once, for the rows may be long. */
  #ids: Map<string, string> | undefined

  constructor(setting: ThreadSetting) {
    this.#setting = setting
  }

  /** The run that was started with this key. */
  async get(key: string): Promise<RunRow | undefined> {
    if (key === '') return undefined
    const { ports: { runs }, ledger, tenant, threadId } = this.#setting
    const unfinished = ledger.state.runs.find(({ commandId }) => commandId === key)
    if (unfinished) return unfinished
    await ledger.durable
    this.#ids ??= await this.#read()
    const runId = this.#ids.get(key)
    return runId === undefined ? undefined : runs.get(tenant, threadId, runId)
  }

  /** Notes a run that was made after `get` did not find its key. */
  add({ commandId: key, runId }: Pick<StartRun, 'commandId' | 'runId'>): void {
    if (key === '' || this.#ids === undefined) return
    this.#ids.delete(key)
    this.#ids.set(key, runId)
    if (this.#ids.size > rememberedKeys) this.#ids.delete(this.#ids.keys().next().value!)
  }

  async #read(): Promise<Map<string, string>> {
    const { ports: { runs }, tenant, threadId } = this.#setting
    const newest = { tenant, threadId, limit: rememberedKeys, offset: 0, texts: [] }
    const keyed = (await runs.list(newest)).filter(({ commandId }) => commandId !== '')
    return new Map(keyed.toReversed().map(({ commandId, runId }) => [commandId, runId]))
  }
}

/** The run as the command made it, read from the log: it may have been deleted since. */
export async function runAsMade(runId: string, { seq }: HeardCommand, { ledger }: ThreadSetting):
  Promise<RunRow> {
  for (const record of await ledger.recordsAt(seq)) {
    if (record.$case !== 'runCreated' || record.value.runId !== runId) continue
    return newRun(ledger.state.row, record.value, seq)
  }
  throw new HeddleError('not_found', `Run ${runId} not found on this thread.`)
}

/**
 * Calls webhooks at the ends of a thread's runs, at least once each.
 *
 * The row that ends the run says that the webhook is owed, so that the next owner of the thread
 * continues with it. It is called once that row is on disk, outside of turns, and settled by a row
 * of its own: delivered, or given up.
 */

import { Backoff } from '../../../cluster/index.ts'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import type { CallOutcome } from '../../egress/index.ts'
import { HeddleError, ignoreNotFound } from '../../errors.ts'
import { graphOfRun } from '../context/thread-graphs.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { planOf } from '../model/run-request.ts'
import { valuesAt } from '../queries/state-values.ts'
import { webhookBody } from './webhook-body.ts'

/** A webhook that has been owed for this long is tried only once more. */
const oldMs = 3_600_000

/** Pause before the next try if our own store failed. */
const pauses = { firstMs: 5_000, longestMs: 5_000 }

/** The deliveries of one thread. */
export class RunWebhooks {
  readonly #context: ThreadContext
  /** Deliveries under way, by run id. */
  readonly #underWay = new Map<string, AbortController>()

  constructor(context: ThreadContext) {
    this.#context = context
  }

  /** True if any webhook is still to be called. */
  get owed(): boolean {
    return this.#owed.length > 0
  }

  get #owed() {
    return this.#context.threadLog.state.row.owedWebhooks
  }

  /** Starts the deliveries that are owed and stops those that are not any more. */
  call(): void {
    for (const [runId, stop] of this.#underWay) if (!this.#owed.includes(runId)) stop.abort()
    for (const runId of this.#owed) if (!this.#underWay.has(runId)) void this.#deliver(runId)
  }

  /** The thread is deleted, or continues elsewhere or later. */
  release(): void {
    for (const stop of this.#underWay.values()) stop.abort()
  }

  async #deliver(runId: string): Promise<void> {
    const { ports: { env }, tenant, threadId } = this.#context
    const stop = new AbortController()
    const backoff = new Backoff(env, pauses)
    this.#underWay.set(runId, stop)
    while (!stop.signal.aborted) {
      try {
        await this.#try(runId, stop.signal)
        break
      } catch (error) {
        if (stop.signal.aborted) break
        env.log.warn('A webhook could not be called yet.', { tenant, threadId, runId, error })
        await backoff.pause()
      }
    }
    if (this.#underWay.get(runId) === stop) this.#underWay.delete(runId)
  }

  async #try(runId: string, signal: AbortSignal): Promise<void> {
    const { threadLog, notify } = this.#context
    await threadLog.durable
    const outcome = await this.#send(runId, signal)
    notify({ type: 'settled', runId, ...ending(outcome) })
  }

  async #send(runId: string, signal: AbortSignal): Promise<CallOutcome> {
    const { ports: { runs, egress, env }, tenant, threadId } = this.#context
    const run = await runs.get(tenant, threadId, runId)
    const url = run && planOf(run).webhook
    if (url === undefined) return { kind: 'refused', reason: 'the run is not there any more' }
    /** Set if the body could not be made only because the store is away. */
    let unread: unknown
    const body = async () => {
      unread = new HeddleError('unavailable', 'The body of the webhook cannot be read in time.')
      try {
        const made = this.#owed.includes(runId) ? await this.#body(run!) : undefined
        unread = undefined
        return made
      } catch (error) {
        unread = HeddleError.from(error).code === 'unavailable' ? error : undefined
        throw error
      }
    }
    const outcome = await egress.send({
      tenant,
      method: 'POST',
      url,
      // The same at every try, so that a receiver can drop repeats.
      headers: { 'content-type': 'application/json', 'idempotency-key': runId,
        'x-heddle-delivery': runId },
      body,
      ...env.nowMs() - run!.updatedAtMs > oldMs && { tries: 1 },
    }, signal)
    // Nothing was sent, so it does not count as a try.
    if (outcome.kind === 'failed' && unread) throw unread
    return outcome
  }

  async #body(run: RunRow): Promise<JsonText> {
    const { ports: { env, showRun }, threadLog } = this.#context
    const started = run.started ? await threadLog.recordsAt(run.firstSeq) : []
    const [startedAtMs] = started.flatMap((record) =>
      record.$case === 'runStarted' && record.value.runId === run.runId ? [record.value.atMs] : []
    )
    return webhookBody({
      run,
      shown: showRun(run),
      sentAtMs: env.nowMs(),
      startedAtMs,
      values: planOf(run).temporary ? undefined : await this.#values(run),
    })
  }

  async #values(run: RunRow): Promise<JsonText | undefined> {
    const { finalCheckpointId: id } = run
    if (id === '') return undefined
    const graph = graphOfRun(run, this.#context)
    return await valuesAt(this.#context, graph, { checkpointId: id }).catch(ignoreNotFound)
  }
}

function ending(outcome: CallOutcome): { readonly delivered: boolean; readonly reason: string } {
  if (outcome.kind !== 'answered') return { delivered: false, reason: outcome.reason }
  const delivered = outcome.status >= 200 && outcome.status < 300
  return { delivered, reason: delivered ? '' : `it answered ${outcome.status}` }
}

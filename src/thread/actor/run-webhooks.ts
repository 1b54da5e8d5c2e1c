/**
 * Calls webhooks at the ends of a thread's runs, at least once each.
 *
 * The row that ends the run says that the webhook is owed, so that the next owner of the thread
 * goes on with it. It is called once that row is on disk, outside of turns, and settled by a row
 * of its own: told, or given up.
 */

import { pause } from '../../../cluster/index.ts'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import type { Outcome } from '../../egress/index.ts'
import { HeddleError, unlessGone } from '../../errors.ts'
import { graphOfRun } from '../context/thread-context.ts'
import type { ThreadSetting } from '../context/thread-context.ts'
import type { OwnCommand } from '../model/command.ts'
import { planOf } from '../model/run-request.ts'
import { valuesAt } from './state-values.ts'
import { webhookBody } from './webhook-body.ts'

/** A webhook that has been owed for this long is tried only once more. */
const oldMs = 3_600_000

/** Pause before the next try if our own store failed. */
const againMs = 5_000

export class RunWebhooks {
  readonly #setting: ThreadSetting
  /** Deliveries under way, by run id. */
  readonly #underWay = new Map<string, AbortController>()

  constructor(setting: ThreadSetting) {
    this.#setting = setting
  }

  /** Whether any webhook is still to be called. */
  get owed(): boolean { return this.#owed.length > 0 }

  get #owed() { return this.#setting.ledger.state.row.owedWebhooks }

  /** Starts the deliveries that are owed and stops those that are not any more. */
  goOn(): void {
    const surplus = this.#owed.length - this.#setting.ports.limits.owedWebhooks
    for (const runId of this.#owed.slice(0, Math.max(0, surplus))) {
      this.settle({ runId, told: false, reason: 'too many of this thread wait' })
    }
    for (const [runId, stop] of this.#underWay) if (!this.#owed.includes(runId)) stop.abort()
    for (const runId of this.#owed) if (!this.#underWay.has(runId)) void this.#tell(runId)
  }

  settle({ runId, told, reason }: Omit<Extract<OwnCommand, { type: 'settled' }>, 'type'>): void {
    const { ledger, ports: { env }, tenant, threadId } = this.#setting
    if (!this.#owed.includes(runId)) return
    if (!told) env.log.warn('A webhook was given up.', { tenant, threadId, runId, reason })
    void ledger.write([{ $case: 'webhookSettled', value: {
      runId, atMs: env.nowMs(), told, reason,
    } }])
  }

  /** The thread is deleted, or goes on elsewhere or later. */
  letGo(): void {
    for (const stop of this.#underWay.values()) stop.abort()
  }

  async #tell(runId: string): Promise<void> {
    const { ports: { env }, tenant, threadId } = this.#setting
    const stop = new AbortController()
    this.#underWay.set(runId, stop)
    while (!stop.signal.aborted) {
      try {
        await this.#try(runId, stop.signal)
        break
      } catch (error) {
        if (stop.signal.aborted) break
        env.log.warn('A webhook could not be called yet.', { tenant, threadId, runId, error })
        await pause(env, againMs)
      }
    }
    if (this.#underWay.get(runId) === stop) this.#underWay.delete(runId)
  }

  async #try(runId: string, signal: AbortSignal): Promise<void> {
    const { ledger, tell } = this.#setting
    await ledger.durable
    const outcome = await this.#send(runId, signal)
    tell({ type: 'settled', runId, ...ending(outcome) })
  }

  async #send(runId: string, signal: AbortSignal): Promise<Outcome> {
    const { ports: { runs, egress, env }, tenant, threadId } = this.#setting
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
      tenant, method: 'POST', url,
      // The same at every try, so that a receiver can drop repeats.
      headers: { 'content-type': 'application/json', 'idempotency-key': runId,
        'x-heddle-delivery': runId },
      body, ...env.nowMs() - run!.updatedAtMs > oldMs && { tries: 1 },
    }, signal)
    // Nothing was sent, so it does not count as a try.
    if (outcome.kind === 'failed' && unread) throw unread
    return outcome
  }

  async #body(run: RunRow): Promise<JsonText> {
    const { ports: { env, showRun }, ledger } = this.#setting
    const started = run.started ? await ledger.recordsAt(run.firstSeq) : []
    const [startedAtMs] = started.flatMap((record) =>
      record.$case === 'runStarted' && record.value.runId === run.runId ? [record.value.atMs] : [])
    return webhookBody({
      run, shown: showRun(run), sentAtMs: env.nowMs(), startedAtMs,
      values: planOf(run).temporary ? undefined : await this.#values(run),
    })
  }

  async #values(run: RunRow): Promise<JsonText | undefined> {
    const { finalCheckpointId: id } = run
    if (id === '') return undefined
    const graph = graphOfRun(run, this.#setting)
    return await valuesAt(this.#setting, graph, { checkpointId: id }).catch(unlessGone)
  }
}

function ending(outcome: Outcome): { readonly told: boolean; readonly reason: string } {
  if (outcome.kind !== 'answered') return { told: false, reason: outcome.reason }
  const told = outcome.status >= 200 && outcome.status < 300
  return { told, reason: told ? '' : `it answered ${outcome.status}` }
}

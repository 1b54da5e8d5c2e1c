/**
 * Calls webhooks at the ends of a thread's runs, and notifies of its tasks, at least once each.
 *
 * The row that ends the run says that this is owed, so that the next owner of the thread continues
 * with it. All that one end owes is called at the same time once that row is on disk, outside of
 * turns. Each address has tries of its own, so that one that fails neither holds up nor repeats the
 * others. When all are done, a row of its own settles it: delivered, or given up.
 */

import { Backoff } from '../../../cluster/index.ts'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import type { Call, CallOutcome } from '../../egress/index.ts'
import { HeddleError, ignoreNotFound } from '../../errors.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { askedAfter, configsOf, taskOfRun } from '../decide/owed.ts'
import { canceledKey, runOfKey } from '../model/owed-key.ts'
import { planOf } from '../model/run-request.ts'
import { valuesAtEnd } from '../queries/state-values.ts'
import { pushCall, webhookBody } from './webhook-call.ts'

/** A webhook that has been owed for this long is tried only once more. */
const oldMs = 3_600_000

/** Pause before the next try if our own store failed. */
const pauses = { firstMs: 5_000, longestMs: 5_000 }

/** A call that is owed, and how its body is made; undefined if it is not owed any more. */
interface OwedCall extends Pick<Call, 'url' | 'headers'> {
  readonly make: () => Promise<JsonText | undefined>
}

/** The deliveries of one thread. */
export class RunWebhooks {
  readonly #context: ThreadContext
  /** Deliveries under way, by what is owed. */
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
    for (const [key, stop] of this.#underWay) if (!this.#owed.includes(key)) stop.abort()
    for (const key of this.#owed) if (!this.#underWay.has(key)) void this.#deliver(key)
  }

  /** The thread is deleted, or continues elsewhere or later. */
  release(): void {
    for (const stop of this.#underWay.values()) stop.abort()
  }

  async #deliver(key: string): Promise<void> {
    const stop = new AbortController()
    this.#underWay.set(key, stop)
    try {
      await this.#settle(key, stop.signal)
    } catch (error) {
      if (!stop.signal.aborted) throw error
    } finally {
      if (this.#underWay.get(key) === stop) this.#underWay.delete(key)
    }
  }

  async #settle(key: string, signal: AbortSignal): Promise<void> {
    const { threadLog, notify, ports: { runs }, tenant, threadId } = this.#context
    const { runId, isGivenUp } = runOfKey(key)
    const untilDone = <Result>(act: () => Promise<Result>) => this.#untilDone(runId, signal, act)
    const run = await untilDone(async () => {
      await threadLog.durable
      return await runs.get(tenant, threadId, runId)
    })
    const calls = run ? this.#callsOf(key, run) : []
    const outcomes = await Promise.all(
      calls.map((call) => untilDone(() => this.#send(run!, call, signal))),
    )
    const over = run && (isGivenUp || askedAfter(threadLog.state, run) === undefined)
      ? taskOfRun(run)
      : undefined
    notify({ type: 'settled', runId: key, ...endingOfAll(outcomes), ...over && { over } })
  }

  /** Does it again after a pause as long as our own store fails. Throws only if it is stopped. */
  async #untilDone<Result>(runId: string, signal: AbortSignal,
    act: () => Promise<Result>): Promise<Result> {
    const { ports: { env }, tenant, threadId } = this.#context
    for (const backoff = new Backoff(env, pauses);;) {
      signal.throwIfAborted()
      try {
        return await act()
      } catch (error) {
        signal.throwIfAborted()
        env.log.warn('A webhook could not be called yet.', { tenant, threadId, runId, error })
        await backoff.pause()
      }
    }
  }

  #callsOf(key: string, run: RunRow): readonly OwedCall[] {
    const { webhook } = planOf(run)
    const { runId, isGivenUp } = runOfKey(key)
    const hook: OwedCall[] = webhook === undefined || isGivenUp ? [] : [{
      url: webhook,
      // The same at every try, so that a receiver can drop repeats.
      headers: { 'content-type': 'application/json', 'idempotency-key': runId,
        'x-heddle-delivery': runId },
      make: async () => this.#owed.includes(key) ? await this.#body(run) : undefined,
    }]
    const taskId = taskOfRun(run)
    return [...hook, ...configsOf(this.#context.threadLog.state.row, taskId).map((config) => ({
      ...pushCall(config, key),
      make: async () =>
        this.#isOwedTo(config.id, key, taskId)
          ? await this.#task(run, isGivenUp, config.dialect)
          : undefined,
    }))]
  }

  /** False once the config is removed, or if the task has been given up meanwhile. */
  #isOwedTo(configId: string, key: string, taskId: string): boolean {
    if (!this.#owed.includes(key) || this.#owed.includes(canceledKey(key))) return false
    const { row } = this.#context.threadLog.state
    return configsOf(row, taskId).some(({ id }) => id === configId)
  }

  async #send(run: RunRow, { url, headers, make }: OwedCall,
    signal: AbortSignal): Promise<CallOutcome> {
    const { ports: { egress, env }, tenant } = this.#context
    /** Set if the body could not be made only because the store is away. */
    let unread: unknown
    const body = async () => {
      unread = new HeddleError('unavailable', 'The body of the webhook cannot be read in time.')
      try {
        const made = await make()
        unread = undefined
        return made
      } catch (error) {
        unread = HeddleError.from(error).code === 'unavailable' ? error : undefined
        throw error
      }
    }
    const { user } = planOf(run)
    const outcome = await egress.send({ tenant, user, method: 'POST', url, headers, body,
      ...env.nowMs() - run.updatedAtMs > oldMs && { tries: 1 } }, signal)
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

  /** Undefined if the first run of the task is gone. */
  async #task(run: RunRow, isGivenUp: boolean, dialect: string): Promise<JsonText | undefined> {
    const { ports: { runs, showTask }, threadLog: { state }, tenant, threadId } = this.#context
    const taskId = taskOfRun(run)
    const first = taskId === run.runId ? run : await runs.get(tenant, threadId, taskId)
    const values = await this.#values(run)
    const asks = askedAfter(state, run)
    return first && await showTask?.({ tenant, first, run, asks, isGivenUp, values, dialect })
  }

  async #values(run: RunRow): Promise<JsonText | undefined> {
    if (run.finalCheckpointId === '') return undefined
    return await valuesAtEnd(this.#context, run).catch(ignoreNotFound)
  }
}

interface Settling {
  readonly delivered: boolean
  readonly reason: string
}

/** Delivered if all were; otherwise given up, for the reason of the first that was not. */
function endingOfAll(outcomes: readonly CallOutcome[]): Settling {
  if (outcomes.length === 0) return { delivered: false, reason: 'nobody waits for it any more' }
  const endings = outcomes.map(ending)
  return endings.find(({ delivered }) => !delivered) ?? endings[0]!
}

function ending(outcome: CallOutcome): Settling {
  if (outcome.kind !== 'answered') return { delivered: false, reason: outcome.reason }
  const delivered = outcome.status >= 200 && outcome.status < 300
  return { delivered, reason: delivered ? '' : `it answered ${outcome.status}` }
}

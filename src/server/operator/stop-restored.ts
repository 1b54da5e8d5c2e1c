/**
 * Stops the unfinished work of a backup: runs, webhooks, crons, rules and experiments may have had
 * their effects after the backup was made. Each is stopped by its own actor, so that the logs show
 * it.
 */

import { ByteBudget, limitConcurrency, pause } from '../../../cluster/index.ts'
import type { ActivationTable, ActorKind, Env, Router } from '../../../cluster/index.ts'
import { cronClient, cronKind } from '../../crons/index.ts'
import { HeddleError, ignoreNotFound } from '../../errors.ts'
import { runJson } from '../../frontdoor/index.ts'
import { idleHost } from '../../graph/index.ts'
import { ReadQuota } from '../../limits/index.ts'
import { cancelledExperiment, catalogClient, catalogKind, experimentRecords,
  ruleRecords } from '../../platform/index.ts'
import type { UnfinishedThread } from '../../search/index.ts'
import { createThreadClient, defaultLimits, InputQuota, Quarantine,
  threadKind } from '../../thread/index.ts'
import type { ThreadClient } from '../../thread/index.ts'
import type { Backend } from '../backends/backend.ts'
import { operatorActors } from './operator-actors.ts'
import type { OperatorPlace } from './operator-actors.ts'

/** Store and ownership of the one member that does this. No other member may serve meanwhile. */
export interface RestoredPlace
  extends OperatorPlace,
    Pick<Backend, 'log' | 'threads' | 'runs' | 'crons' | 'due' | 'dueCrons' | 'everybody'> {
  /** Takes over everything, with these actors. Resolves with the threads that are unfinished. */
  begin(activations: ActivationTable): Promise<readonly UnfinishedThread[]>
}

/** Counts of the stopped runs, webhooks, crons, rules and experiments. */
export interface Stopped {
  readonly runs: number
  readonly webhooks: number
  readonly crons: number
  readonly rules: number
  readonly experiments: number
}

type Counted = { -readonly [Kind in keyof Stopped]: number }

/** Threads and crons that are stopped at once, and that are read at a time. */
const [atOnce, pageRows] = [8, 256]
/** Runs of a thread that are read at a time. */
const pageRuns = 100
/** Bytes in memory of states and feeds, and characters of inputs. */
const memoryBytes = 256 * 1024 * 1024
/** Time for a thread's webhooks to be given up, and between two looks. */
const [webhooksMs, lookMs] = [30_000, 20]

/** Stops everything. Throws HeddleError if something cannot be stopped. */
export async function stopRestored(place: RestoredPlace, env: Env): Promise<Stopped> {
  const stopped: Counted = { runs: 0, webhooks: 0, crons: 0, rules: 0, experiments: 0 }
  const { activations, router } = operatorActors(place, env,
    (ask) => kindsOf(place, env, { ask, givenUp: () => stopped.webhooks++ }))
  const threads = createThreadClient({ router, env, newThreadId: env.uuid,
    threads: place.everybody.threads, reads: new ReadQuota(env) })
  const stop = async (thread: UnfinishedThread) => {
    try {
      stopped.runs += await stopRuns(threads, thread)
      await webhooksGivenUp(place, env, thread)
    } catch (error) {
      throw notStopped(thread, error)
    }
  }
  try {
    await each(await place.begin(activations), stop)
    await eachDue(place.due, stop)
    const crons = cronClient(router)
    const due = (after: Parameters<typeof place.dueCrons>[0], limit: number) =>
      place.dueCrons(after, limit, env.nowMs())
    await eachDue(due, async (cron) => {
      const disabled = await crons.patch(cron, { enabled: false }).catch(ignoreNotFound)
      if (disabled !== undefined) stopped.crons++
    })
    stopped.rules = await stopRules(router, env)
    stopped.experiments = await stopExperiments(router, env)
    return stopped
  } finally {
    await activations.close(AbortSignal.abort())
  }
}

function notStopped({ tenant, threadId }: UnfinishedThread, error: unknown): HeddleError {
  const { code, message } = HeddleError.from(error)
  return new HeddleError(code, `Thread ${threadId} of ${tenant} cannot be stopped: ${message}`, {},
    {
      cause: error,
    })
}

/** They start nothing: only what stops is asked of them. */
function kindsOf({ log, threads, runs, crons }: RestoredPlace, env: Env,
  { givenUp, ask }: { givenUp(): void; readonly ask: Router['ask'] }): ActorKind[] {
  const refused = new HeddleError('unsupported', 'No cron fires now.')
  return [
    threadKind({
      log,
      threads,
      runs,
      env,
      host: idleHost(),
      limits: defaultLimits,
      quarantine: new Quarantine(env),
      views: new ByteBudget(memoryBytes),
      feeds: new ByteBudget(memoryBytes),
      inputs: new InputQuota(memoryBytes),
      reads: new ReadQuota(env),
      billing: false,
      egress: { send: async () => {
        givenUp()
        return { kind: 'refused', reason: 'the data comes from a backup' }
      } },
      showRun: (run) => runJson(run),
      nextExecutionId: () => 0,
      wakeAt: () => {},
      ask,
    }),
    cronKind({ log, index: crons, env, fire: () => Promise.reject(refused), wakeAt: () => {} }),
    catalogKind({ log, env }),
  ]
}

/**
 * The last run is stopped first, so that none follows the one that is stopped. A thread or a run
 * may go meanwhile: a backup has threads whose delete was under way, and a stateless run's thread
 * goes after its run.
 */
async function stopRuns(threads: ThreadClient,
  { tenant, threadId }: UnfinishedThread): Promise<number> {
  let count = 0
  for (const status of ['pending', 'running'] as const) {
    for (;;) {
      const page =
        await threads.listRuns({ tenant, threadId, status, limit: pageRuns, offset: 0, texts: [] })
          .catch(ignoreNotFound) ?? []
      for (const { runId } of page) {
        const how = { action: 'interrupt', cause: 'restored' } as const
        count += await threads.cancelRun(tenant, threadId, runId, how).then(() => 1, (error) =>
          ignoreNotFound(error) ?? 0)
      }
      if (page.length < pageRuns) break
    }
  }
  return count
}

/** Resolves when the thread owes no webhook: each is noted as given up. */
async function webhooksGivenUp({ threads }: RestoredPlace, env: Env,
  { tenant, threadId }: UnfinishedThread): Promise<void> {
  for (const untilMs = env.monotonicMs() + webhooksMs;;) {
    const row = await threads.get(tenant, threadId)
    if (row === undefined || row.deleted || row.owedWebhooks.length === 0) return
    if (env.monotonicMs() > untilMs) {
      throw new HeddleError('unavailable', `Thread ${threadId} still owes a webhook.`)
    }
    await pause(env, lookMs)
  }
}

/** Disables all rules, which stay as they are otherwise. */
async function stopRules(router: Router, env: Env): Promise<number> {
  const records = ruleRecords(catalogClient(router), env)
  let count = 0
  for (let page = await records.awake.page(); page.length > 0; page = await records.awake.page()) {
    for (const rule of page) {
      const found = await records.get(rule.tenant, rule.id)
      if (found?.is_enabled) {
        await records.change(rule.tenant, found, { ...found, is_enabled: false })
        count++
      }
      await records.awake.remove(rule)
    }
  }
  return count
}

/** Cancels all experiments. They stay listed: the next owner notes the end of their projects. */
async function stopExperiments(router: Router, env: Env): Promise<number> {
  const records = experimentRecords(catalogClient(router), env)
  let count = 0
  for (let page = await records.listed.page(); page.length > 0;
    page = await records.listed.page(page.at(-1)!.place)) {
    for (const name of page) {
      const found = await records.get(name)
      const cancelled = found && cancelledExperiment(found, env.nowMs())
      if (cancelled === undefined) continue
      await records.save(name, found!, cancelled)
      count++
    }
  }
  return count
}

async function each<Item>(items: readonly Item[],
  work: (item: Item) => Promise<void>): Promise<void> {
  const inTurn = limitConcurrency(atOnce)
  await Promise.all(items.map((item) => inTurn(() => work(item))))
}

/** Goes through everything that sleeps, a page at a time. A stopped item leaves the list. */
async function eachDue<Item extends { readonly atMs: number; readonly no: number }>(
  due: (after: Pick<Item, 'atMs' | 'no'>, limit: number) => Promise<readonly Item[]>,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  for (let after: Pick<Item, 'atMs' | 'no'> = { atMs: 0, no: 0 };;) {
    const page = await due(after, pageRows)
    await each(page, work)
    if (page.length < pageRows) return
    after = page.at(-1)!
  }
}

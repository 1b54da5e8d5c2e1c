/** The actors of a member: their kinds, their router, and how unfinished threads are woken. */

import { ByteBudget, ActivationTable, actorKeyText, Backoff, createRouter, limitConcurrency,
  shardOf, withTimeout } from '../../cluster/index.ts'
import type { ActorKey, ActorKind, ClusterStatus, Env, Router,
  Tracing } from '../../cluster/index.ts'
import type { RunKeys } from '../access/index.ts'
import { assistantKind } from '../assistants/index.ts'
import { cronClient, cronKind } from '../crons/index.ts'
import type { CronActorParts } from '../crons/index.ts'
import type { Egress } from '../egress/index.ts'
import { HeddleError } from '../errors.ts'
import { runJson } from '../frontdoor/index.ts'
import type { WebhookCheck } from '../frontdoor/index.ts'
import type { DeployedGraphs, GraphHost } from '../graph/index.ts'
import { itemKind, ItemStore, sweepItems } from '../items/index.ts'
import type { ItemSettings } from '../items/index.ts'
import { counterRules, LimitClients, limitKind, LiveCounters } from '../limits/index.ts'
import type { QuotaLimits, RateLimit, ReadQuota } from '../limits/index.ts'
import { catalogKind, deletionKind, ruleKind } from '../platform/index.ts'
import type { DeletionParts, RuleEngine } from '../platform/index.ts'
import type { AssistantDefaults } from '../settings/index.ts'
import { cautiousClock, defaultLimits, InputQuota, threadKind } from '../thread/index.ts'
import type { Quarantine, ThreadPorts } from '../thread/index.ts'
import type { Backend, HostedActors } from './backends/backend.ts'
import { openFiring } from './cron-firing.ts'
import type { RunsOfServer } from './cron-firing.ts'
import { dueCronActors, dueThreadActors, DueWakes } from './due-wakes.ts'
import { executionNotes } from './execution-notes.ts'
import { watchedGraphs, watchedHost } from './watched-host.ts'

/** The open actors of a member, which belong to its server. */
export interface Actors extends Pick<HostedActors, 'activations' | 'wake' | 'wakeAt'> {
  readonly router: Router
  readonly limits: LimitClients
  /** The counters of limits that are here. */
  readonly counters: LiveCounters
  readonly items: ItemStore
  readonly runs: RunsOfServer
  /** True if this member owns an actor. */
  owns(key: ActorKey): boolean
  close(deadline: AbortSignal): Promise<void>
}

/** Parts of the server that its actors use besides the backend. All of them outlive the actors. */
export interface ActorParts {
  readonly env: Env
  /** Undefined if there is no collector. */
  readonly tracing?: Tracing
  /** Undefined where callers need no keys. */
  readonly runKeys: RunKeys | undefined
  readonly host: GraphHost
  /** The graphs of deployments; undefined for a server without them. */
  readonly deployed?: DeployedGraphs
  readonly rows: readonly RateLimit[]
  readonly billing: boolean
  /** Called with the rows of runs that have ended; by default they are dropped. */
  readonly runsEnded?: ThreadPorts['runsEnded']
  /** Removes the traces of runs; by default, they have none. */
  readonly runsGone?: ThreadPorts['runsGone']
  /** Engine for rules; undefined while the platform is not open. */
  readonly ruleEngine: () => RuleEngine | undefined
  /** Parts that deletions of traces work with; undefined while the platform is not open. */
  readonly deletionEngine: () => DeletionParts | undefined
  /** The memory that reads share. */
  readonly reads: ReadQuota
  readonly egress: Pick<Egress, 'send'> & WebhookCheck
  /** The limits of each tenant. */
  readonly quotas: QuotaLimits
  readonly quarantine: Quarantine
  /** Defaults for the assistants of graphs, also where a cron fires first for a tenant. */
  readonly assistantDefaults: ReadonlyMap<string, AssistantDefaults>
  itemSettings(namespace?: string): ItemSettings
  /** Time to live of new threads that name none; by default without end. */
  readonly defaultTimeToLive?: ThreadPorts['defaultTimeToLive']
}

/** Bytes that all threads together may keep in memory, of states and of events of finished runs. */
const viewsBytes = 256 * 1024 * 1024
const feedsBytes = 64 * 1024 * 1024
/** Characters that all threads together may keep of unfinished runs and edits. */
const inputCharacters = 512 * 1024 * 1024

/**
 * Pauses before a thread is woken again. It has runs to continue, and perhaps no client asks for
 * it.
 */
const wakeAgain = { firstMs: 1_000, longestMs: 60_000 }

/** Unfinished threads that are woken at once. */
const wokenAtOnce = 8

/** Crons that are fired at once. Each waits until its run is on disk. */
const firedAtOnce = 64
/** Milliseconds for which other crons wait for one that fires. */
const firingMs = 10_000

/** Opens the actors of a member. Nothing is woken before the backend begins. */
export function openActors({ ownership, ownershipCheck: check, transport, ...backend }: Backend,
  parts: ActorParts): Actors {
  const { env, tracing } = parts
  const notes = executionNotes(tracing, parts.runKeys)
  const host = notes === undefined ? parts.host : watchedHost(parts.host, notes)
  const deployed = parts.deployed && watchedGraphs(parts.deployed, notes)
  const counters = new LiveCounters()
  const served = { ...parts, host, ...deployed && { deployed } }
  const kinds = kindsOver(backend, { ...served, counters }, {
    ask: (key, command) => router.ask(key, command),
    wakeAt: (atMs) => dueThreads.note(atMs),
    isSettled: (tenant, { cronId, dueMs }) => crons.isSettled({ tenant, cronId }, dueMs),
  }, {
    fire: (cron, dueMs) => firing.fire(cron, dueMs),
    wakeAt: (atMs) => dueCrons.note(atMs),
  })
  const epochOf = (key: ActorKey) => {
    const owner = ownership.ownerOf(shardOf(actorKeyText(key), ownership.shards))
    return owner?.member === ownership.self ? owner.epoch : undefined
  }
  const activations = new ActivationTable({
    env,
    kinds,
    ...check && { check },
    owns: (key, epoch) => epochOf(key) === epoch,
  })
  const router = createRouter({
    env,
    ownership,
    activations,
    transport,
    movable: check !== undefined,
    ...tracing && { tracing },
  })
  const crons = cronClient(router)
  const limits = new LimitClients({ env, router, doors: () => frontDoors(backend.status()) })
  const items = new ItemStore({ router, search: backend.everybody.items, env, reads: parts.reads,
    settings: parts.itemSettings })
  const firing = openFiring({ ...served, router, everybody: backend.everybody, runs: backend.runs,
    items })
  const dueThreads = new DueWakes({ env, due: dueThreadActors(backend.due), wake: async (key) => {
    const epoch = epochOf(key)
    if (epoch !== undefined) await activations.wake(key, epoch)
  } })
  const dueCrons = new DueWakes({ env, due: dueCronActors(backend.dueCrons, env),
    atOnce: firedAtOnce, wake: async (key) => {
      const epoch = epochOf(key)
      if (epoch === undefined) return
      // A firing that takes longer goes on, and others have their turn.
      await withTimeout(env, firingMs, activations.ask(key, epoch, { kind: 'look' }),
        () => new HeddleError('unavailable', 'A cron is still being fired.'))
    } })
  const stopSweeping = sweepItems({ env, index: backend.items, router,
    everyMs: parts.itemSettings().sweepMs })
  let closing = false
  const wakeOne = async (key: ActorKey, backoff = new Backoff(env, wakeAgain)) => {
    const epoch = epochOf(key)
    if (closing || epoch === undefined) return
    try {
      await activations.wake(key, epoch)
    } catch (error) {
      // Runs of a removed deployment are never executed.
      if (closing || HeddleError.from(error).code === 'not_found') return
      env.log.error('A thread could not be woken; it is tried again.', { key, error })
      env.after(backoff.nextMs(), () => void wakeOne(key, backoff))
    }
  }
  return {
    router,
    activations,
    limits,
    counters,
    items,
    runs: firing.runs,
    owns: (key) => epochOf(key) !== undefined,
    wake: async (unfinished) => {
      const inTurn = limitConcurrency(wokenAtOnce)
      await Promise.all(
        unfinished.map(({ tenant, threadId: id }) =>
          inTurn(() => wakeOne({ kind: 'thread', tenant, id }))
        ),
      )
    },
    wakeAt: (atMs) => {
      dueThreads.note(atMs)
      dueCrons.note(atMs)
    },
    close: async (deadline) => {
      closing = true
      dueThreads.close()
      dueCrons.close()
      stopSweeping()
      limits.close()
      await activations.close(deadline)
      await firing.close()
    },
  }
}

/**
 * Number of front doors that this member knows: the members, and itself if it is none or about to
 * leave.
 */
export function frontDoors({ member, view }: ClusterStatus): number {
  return view.some(({ id }) => id === member.id) ? view.length : view.length + 1
}

type Ports = Pick<Backend,
  'log' | 'threads' | 'runs' | 'assistants' | 'crons' | 'items' | 'limits' | 'askDoors'>

function kindsOver(ports: Ports, parts: ActorParts & { readonly counters: LiveCounters },
  ways: Required<Pick<ThreadPorts, 'ask' | 'wakeAt' | 'isSettled'>>,
  firing: Pick<CronActorParts, 'fire' | 'wakeAt'>): ActorKind[] {
  const { host, deployed, rows, egress, billing, quarantine, reads, env, counters,
    defaultTimeToLive, runsEnded, runsGone, ruleEngine, deletionEngine } = parts
  const { log, threads, runs, assistants, crons, items, limits, askDoors } = ports
  let executions = 0
  return [
    threadKind({
      log,
      threads,
      runs,
      host,
      env,
      egress,
      billing,
      quarantine,
      ...ways,
      showRun: (run) => runJson(run),
      limits: defaultLimits,
      views: new ByteBudget(viewsBytes),
      feeds: new ByteBudget(feedsBytes),
      inputs: new InputQuota(inputCharacters),
      reads,
      nextExecutionId: () => ++executions,
      cautiousNowMs: cautiousClock(env),
      ...deployed && { deployed },
      ...defaultTimeToLive && { defaultTimeToLive },
      ...runsEnded && { runsEnded },
      ...runsGone && { runsGone },
    }),
    assistantKind({ log, index: assistants, reads, env }),
    cronKind({ log, index: crons, env, ...firing }),
    catalogKind({ log, env }),
    ruleKind({ engine: ruleEngine, env }),
    deletionKind({ engine: deletionEngine, env }),
    itemKind({ log, index: items, env }),
    limitKind({ env, table: limits, askDoors, live: counters, ruleOf: counterRules(rows) }),
  ]
}

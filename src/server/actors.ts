/** The actors of a member: their kinds, their router, and their clients. */

import { ActivationTable, actorKeyText, ByteBudget, createRouter,
  shardOf } from '../../cluster/index.ts'
import type { ActorKey, ActorKind, ClusterStatus, Env, Router,
  Tracing } from '../../cluster/index.ts'
import { assistantKind } from '../assistants/index.ts'
import { cronClient, cronKind } from '../crons/index.ts'
import type { CronActorParts } from '../crons/index.ts'
import type { Egress } from '../egress/index.ts'
import { runJson, taskNotification } from '../frontdoor/index.ts'
import type { WebhookCheck } from '../frontdoor/index.ts'
import type { DeployedGraphs, GraphHost } from '../graph/index.ts'
import { itemKind, ItemStore, sweepItems } from '../items/index.ts'
import type { ItemSettings } from '../items/index.ts'
import { readLongJson } from '../json/index.ts'
import type { LongJson } from '../json/index.ts'
import { cautiousClock, counterRules, LimitClients, limitKind,
  LiveCounters } from '../limits/index.ts'
import type { QuotaLimits, RateLimit, ReadQuota } from '../limits/index.ts'
import { catalogKind, deletionKind, experimentKind, ruleKind } from '../platform/index.ts'
import type { DeletionParts, ExperimentEngine, RuleEngine } from '../platform/index.ts'
import type { AssistantDefaults } from '../settings/index.ts'
import { defaultLimits, InputQuota, LateExpiries, Recoveries, threadKind } from '../thread/index.ts'
import type { Quarantine, ThreadPorts } from '../thread/index.ts'
import { openWaking } from './actor-waking.ts'
import type { Backend, HostedActors } from './backends/backend.ts'
import { openFiring } from './cron-firing.ts'
import type { RunsOfServer } from './cron-firing.ts'
import { executionNotes } from './execution-notes.ts'
import type { KeysOfRuns } from './execution-notes.ts'
import { watchedGraphs, watchedHost } from './watched-host.ts'

/** The open actors of a member, which belong to its server. */
export interface Actors extends Pick<HostedActors, 'activations' | 'wake' | 'opened' | 'wakeAt'> {
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
  readonly keysOfRuns: KeysOfRuns
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
  /** Engine for experiments; undefined while the platform is not open. */
  readonly experimentEngine: () => ExperimentEngine | undefined
  /** The memory that reads share. */
  readonly reads: ReadQuota
  readonly egress: Pick<Egress, 'send'> & WebhookCheck
  /** The limits of each tenant. */
  readonly quotas: QuotaLimits
  readonly quarantine: Quarantine
  /** Defaults for the assistants of graphs, also where a cron fires first for a tenant. */
  readonly assistantDefaults: ReadonlyMap<string, AssistantDefaults>
  itemSettings(namespace?: string): ItemSettings
  /** Tools whose results other agents may see; `*` for all. */
  readonly agentTools: ReadonlySet<string>
  /** Time to live of new threads that name none; by default without end. */
  readonly defaultTimeToLive?: ThreadPorts['defaultTimeToLive']
}

/** Bytes that all threads together may keep in memory, of states and of events of finished runs. */
const viewsBytes = 256 * 1024 * 1024
const feedsBytes = 64 * 1024 * 1024
/** Characters that all threads together may keep of unfinished runs and edits. */
const inputCharacters = 512 * 1024 * 1024

/** Opens the actors of a member. Nothing is woken before the backend begins. */
export function openActors({ ownership, ownershipCheck: check, transport, ...backend }: Backend,
  parts: ActorParts): Actors {
  const { env, tracing } = parts
  const notes = executionNotes(tracing, parts.keysOfRuns)
  const host = watchedHost(parts.host, notes)
  const deployed = parts.deployed && watchedGraphs(parts.deployed, notes)
  const counters = new LiveCounters()
  const json = readLongJson(env.log)
  const served = { ...parts, host, ...deployed && { deployed } }
  const recoveries = new Recoveries()
  const kinds = kindsOver(backend, { ...served, counters, json, recoveries }, {
    ask: (key, command) => router.ask(key, command),
    wakeAt: (atMs) => waking.noteThread(atMs),
    isSettled: (tenant, { cronId, dueMs }) => crons.isSettled({ tenant, cronId }, dueMs),
    expireAfter: (...thread) => expiries.note(...thread),
    expiresLater: (...thread) => expiries.has(...thread),
  }, {
    fire: (cron, dueMs) => firing.fire(cron, dueMs),
    wakeAt: (atMs) => waking.noteCron(atMs),
  })
  const epochOf = (key: ActorKey) => {
    const owner = ownership.ownerOf(shardOf(actorKeyText(key), ownership.shards))
    return owner?.member === ownership.self ? owner.epoch : undefined
  }
  const activations = new ActivationTable({ env, kinds, ...check && { check },
    owns: (key, epoch) => epochOf(key) === epoch })
  const router = createRouter({ env, ownership, activations, transport,
    movable: check !== undefined, ...tracing && { tracing } })
  const crons = cronClient(router)
  const limits = new LimitClients({ env, router, doors: () => frontDoors(backend.status()) })
  const items = new ItemStore({ router, search: backend.everybody.items, env, reads: parts.reads,
    settings: parts.itemSettings })
  const firing = openFiring({ ...served, router, everybody: backend.everybody, runs: backend.runs,
    items, json })
  const waking = openWaking({ ...backend, env, activations, epochOf, recoveries })
  const expiries = new LateExpiries({ env, activations, epochOf })
  const stopSweeping = sweepItems({ env, index: backend.items, router,
    everyMs: parts.itemSettings().sweepMs })
  return {
    router,
    activations,
    limits,
    counters,
    items,
    runs: firing.runs,
    owns: (key) => epochOf(key) !== undefined,
    wake: waking.wake,
    opened: waking.opened,
    wakeAt: waking.wakeAt,
    close: async (deadline) => {
      waking.close()
      expiries.close()
      stopSweeping()
      limits.close()
      await activations.close(deadline)
      await json.close()
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
  | 'log'
  | 'heldRuns'
  | 'threads'
  | 'runs'
  | 'assistants'
  | 'crons'
  | 'items'
  | 'limits'
  | 'askDoors'>

function kindsOver(ports: Ports,
  parts: ActorParts & { readonly counters: LiveCounters; readonly json: LongJson;
    readonly recoveries: Recoveries }, ways: Required<
    Pick<ThreadPorts, 'ask' | 'wakeAt' | 'isSettled' | 'expireAfter' | 'expiresLater'>
  >, firing: Pick<CronActorParts, 'fire' | 'wakeAt'>): ActorKind[] {
  const { host, deployed, rows, egress, billing, quarantine, reads, env, counters,
    defaultTimeToLive, runsEnded, runsGone, ruleEngine, deletionEngine, experimentEngine, json,
    agentTools, recoveries } = parts
  const { log, heldRuns, threads, runs, assistants, crons, items, limits, askDoors } = ports
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
      showTask: (end) => taskNotification({ json, tools: agentTools }, end),
      limits: defaultLimits,
      views: new ByteBudget(viewsBytes),
      feeds: new ByteBudget(feedsBytes),
      inputs: new InputQuota(inputCharacters),
      recoveries,
      heldRuns,
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
    experimentKind({ engine: experimentEngine, env }),
    itemKind({ log, index: items, env }),
    limitKind({ env, table: limits, askDoors, live: counters, ruleOf: counterRules(rows) }),
  ]
}

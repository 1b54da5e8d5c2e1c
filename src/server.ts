/** One member with all that it serves: put together stage by stage, taken apart in reverse. */

import { Activations, actorKeyText, createLifecycle, createRouter, shardOf }
  from '../cluster/index.ts'
import type { ActorKey, ActorKind, Env, Router, Tracing } from '../cluster/index.ts'
import { ownVersion } from './config.ts'
import type { Settings } from './config.ts'
import { narrowed, openEgress } from './egress/index.ts'
import type { Egress } from './egress/index.ts'
import {
  addressReader, fromUserProxies, LimitBook, limitGate, limitRows, openFrontDoor,
  readLimitOverrides, runJson,
} from './frontdoor/index.ts'
import type { AuthOptions, FrontDoor, FrontDoorOptions, LimitRow } from './frontdoor/index.ts'
import { compileProject, readProject, startGraphHost, watchProject } from './graph/index.ts'
import type { GraphHost, Project, RunningGraphHost } from './graph/index.ts'
import { assistantClient, assistantKind, keyDesk, limitKind } from './records/index.ts'
import { regions } from './region.ts'
import { openCassandraGround } from './server/cassandra-ground.ts'
import { openEmbeddedGround } from './server/embedded-ground.ts'
import type { Ground, Tenants } from './server/ground.ts'
import { meteredLog } from './server/metered-ports.ts'
import { Metrics } from './server/metrics.ts'
import { openMetricsDoor } from './server/metrics-door.ts'
import type { MetricsDoor } from './server/metrics-door.ts'
import { openOfficeSocket } from './server/office-socket.ts'
import { portError } from './server/port-error.ts'
import {
  countRequests, readActors, readDoor, readKeys, readLimits, readOwnership, readServer, readWorkers,
} from './server/readings.ts'
import { tracedHost } from './server/traced-host.ts'
import type { OpenTracing } from './server/tracing.ts'
import { ByteBudget, createThreadClient, defaultLimits, threadKind } from './thread/index.ts'

export interface Server {
  /** Undefined where it answers no clients. */
  readonly url: string | undefined
  /** The port of metrics alone; undefined where they have none. */
  readonly metricsPort: number | undefined
  /** Where the data is. */
  readonly place: string
  /** Who this member is to others; undefined where there are none. */
  readonly member: string | undefined
  /** As the project names them, those that cannot be loaded included. */
  readonly graphs: readonly ServedGraph[]
  /** Ends within the time that the settings give it. Runs cut short resume at the next start. */
  close(): Promise<void>
}

export interface ServedGraph {
  readonly graphId: string
  readonly file: string
  readonly loaded: boolean
}

/** A start that takes longer will not come: a disk hangs, or a graph's own code. */
const startMs = 60_000
/** Another member may be making the tables first, and is waited for. */
const storeStartMs = 240_000

/** The most that each stage takes of the time for ending, in the order in which they end. */
const endingShares =
  { shards: 0.51, metrics: 0.01, keys: 0.01, door: 0.05, runs: 0.15, actors: 0.1, graphs: 0.05,
    store: 0.1, traces: 0.02 } as const

/** What all threads together may remember: of states, and of the events of finished runs. */
const viewsBytes = 256 * 1024 * 1024
const feedsBytes = 64 * 1024 * 1024

/** Of the time that giving shards back may take: then what is under way is cut short. */
const letGoShare = 0.8

/** A thread that could not be woken has runs to go on with, and may be asked for by nobody. */
const wakeAgainMs = { first: 1_000, longest: 60_000 }

/** How many of the threads that a new owner must look at are woken at once. */
const wokenAtOnce = 8

/** Resolves when it serves. Throws HeddleError with a sentence where a setting cannot work. */
export async function openServer(settings: Settings, env: Env,
  mustEnd: (reason: string) => void): Promise<Server> {
  const addressOf = addressReader(settings.trustedProxies)
  const rows = limitsOf(settings)
  const project = await readProject(settings.config)
  for (const warning of project.warnings) env.log.warn(warning)
  const lifecycle = createLifecycle(env)
  const metrics = new Metrics()
  readServer(metrics, ownVersion())
  const times = (stage: keyof typeof endingShares) =>
    ({ startMs, stopMs: settings.drainMs * endingShares[stage] })

  const tracing = await lifecycle.start('traces', {
    ...times('traces'),
    start: () => openTracing(settings, env),
    stop: (tracing) => tracing?.close(),
  })
  const watchers = { env, metrics, ...tracing && { tracing } }
  const [ground, graphs] = await Promise.all([
    lifecycle.start('store', {
      ...times('store'), ...settings.cassandra !== null && { startMs: storeStartMs },
      start: () => openGround(settings, { ...watchers, mustEnd }),
      stop: (ground, deadline) => ground.close(deadline),
    }),
    lifecycle.start('graphs', {
      ...times('graphs'),
      start: () => openGraphs(project, settings, env),
      stop: (graphs) => graphs.close(),
    }),
  ])
  const { egressProxy: proxy, egressAllow: allowed } = settings
  const wayOut = openEgress({ env, version: ownVersion(), proxy, allowed })
  const egress = narrowed(wayOut, project.webhooks)
  const actors = await lifecycle.start('actors', {
    ...times('actors'),
    start: () => openActors(ground, {
      host: graphs.host, rows, egress, billing: settings.billing, ...watchers,
    }),
    stop: async (actors, deadline) => {
      await actors.close(deadline)
      await wayOut.close()
    },
  })
  await lifecycle.start('runs', {
    ...times('runs'),
    start: () => ground.begin({
      ...actors, toldOf: (question) => actors.limits.told(question),
      letGoMs: settings.drainMs * endingShares.shards * letGoShare,
    }),
    stop: (_, deadline) => graphs.host.drain(deadline),
  })
  readOwnership(metrics, ground)
  readActors(metrics, actors.activations)
  readWorkers(metrics, () => graphs.host.stats())
  const answersClients = settings.cassandra?.member.roles.includes('frontdoor') ?? true
  const door = await lifecycle.start('door', {
    ...times('door'),
    start: () => answersClients ? openDoor(settings, {
      env,
      graphs: graphs.host,
      threads: createThreadClient({
        router: actors.router, threads: ground.everybody.threads, newThreadId: env.uuid, env,
      }),
      assistants: assistantClient(actors.router),
      assistantIndex: ground.everybody.assistants,
      egress,
      region: regionOf(settings),
      dependencies: dependenciesOf(settings, ground, () => actors.limits.check(rows[0]!)),
      clusterStatus: ground.status,
      ...settings.auth === 'keys' && { auth: { ...authOf(settings, ground), addressOf } },
      ...settings.limits && { limit: limitGate({ rows, book: actors.limits, addressOf }) },
      heard: countRequests(metrics),
      ...settings.metrics === null && { metrics },
      ...tracing && { tracing },
    }) : undefined,
    stop: (door, deadline) => door?.close(deadline),
  })
  if (door !== undefined) readDoor(metrics, door)
  if (door !== undefined && settings.auth === 'keys') readKeys(metrics, door.keyStats)
  if (settings.limits) readLimits(metrics, actors.limits)
  await lifecycle.start('keys', {
    ...times('keys'),
    start: () => settings.cassandra !== null ? undefined : openOfficeSocket({
      directory: settings.dataDirectory, env, billing: ground.billing,
      desk: keyDesk({ table: ground.keys, region: settings.region, env }),
    }),
    stop: (socket) => socket?.close(),
  })
  const metricsDoor = await lifecycle.start('metrics', {
    ...times('metrics'),
    start: () => openMetrics(settings, metrics),
    stop: (door) => door?.close(),
  })
  // Before the door closes: whoever comes while shards move is brought to their new owners.
  await lifecycle.start('shards', {
    ...times('shards'), start: () => {}, stop: () => ground.giveBack(),
  })
  const served = project.graphs.map(({ graphId, file }) =>
    ({ graphId, file, loaded: graphs.host.describe(graphId)?.failed !== true }))
  const { place, name: member } = ground
  return {
    url: door?.url, metricsPort: metricsDoor?.port, place, member, graphs: served,
    close: lifecycle.stop,
  }
}

function regionOf({ inRegion, region, regionUrls }: Settings): DoorParts['region'] {
  const url = regionUrls[region]
  return inRegion ? { name: region, ...url !== '' && { api_url: url }, ...regions[region] }
    : undefined
}

/** Keys that were good go on without their table for a while, most limits without counters. */
function dependenciesOf(settings: Settings, { check, keys }: Ground,
  askCounter: () => Promise<void>): DoorParts['dependencies'] {
  const findNobody = async () => void await keys.get('nobody')
  const others = [
    { name: 'keys', title: 'The table of keys', used: settings.auth === 'keys',
      check: findNobody },
    { name: 'limits', title: 'A counter of limits', used: settings.limits, check: askCounter },
  ]
  const title = settings.cassandra === null ? 'The store' : 'Cassandra'
  return [{ name: 'store', title, vital: true, check },
    ...others.filter(({ used }) => used).map((other) => ({ ...other, vital: false }))]
}

function authOf({ userProxies, ...settings }: Settings, { keys }: Ground):
Omit<AuthOptions, 'addressOf'> {
  const { region, regionUrls, sessions } = settings
  const isFromTrustedProxy = fromUserProxies(userProxies)
  return { keys, region, regionUrls, sessions, isFromTrustedProxy }
}

/** Those to whom a part tells how it does. */
interface Watchers {
  readonly env: Env
  readonly metrics: Metrics
  /** Undefined where nobody collects traces. */
  readonly tracing?: Tracing
}

async function openGround(settings: Settings,
  watchers: Watchers & { mustEnd(reason: string): void }): Promise<Ground> {
  const { env, metrics } = watchers
  const { cassandra, dataDirectory: directory, inRegion } = settings
  const region = inRegion ? settings.region : undefined
  const ground = cassandra === null ? await openEmbeddedGround(directory, env)
    : await openCassandraGround({ settings: cassandra, region, directory, ...watchers })
  return { ...ground, log: meteredLog(ground.log, metrics, env) }
}

/** Where nobody collects them not even the library is loaded. */
async function openTracing({ tracing }: Settings, { log, uuid }: Env):
Promise<OpenTracing | undefined> {
  if (tracing === null) return undefined
  const { startTracing } = await import('./server/tracing.ts')
  return startTracing({ ...tracing, version: ownVersion(), instance: uuid(), log })
}

async function openMetrics({ metrics: place }: Settings, metrics: Metrics):
Promise<MetricsDoor | undefined> {
  if (place === null) return undefined
  try {
    return await openMetricsDoor(metrics, place)
  } catch (error) {
    throw portError({ ...place, flags: '--metrics-' }, error)
  }
}

function limitsOf({ region, limitOverrides: file }: Settings): readonly LimitRow[] {
  return limitRows(region, file === null ? undefined : readLimitOverrides(file))
}

interface Graphs {
  readonly host: RunningGraphHost
  close(): Promise<void>
}

async function openGraphs(project: Project, { workers, reload }: Settings, env: Env):
  Promise<Graphs> {
  const compiled = await compileProject(project)
  const host = await startGraphHost({ project: compiled, workers, env })
  const cannotReload = ({ message: reason }: Error) =>
    env.log.error('The changed project cannot be loaded; the one before it goes on.', { reason })
  const stopWatching = !reload ? () => {} : watchProject(env, project, compiled, {
    changed: (compiled) => {
      host.reload(compiled).then(() => env.log.info('The project was loaded anew.'), cannotReload)
    },
    failed: cannotReload,
  })
  return {
    host,
    close: async () => {
      stopWatching()
      await host.close()
    },
  }
}

interface Actors extends Pick<Tenants, 'activations' | 'wake'> {
  readonly router: Router
  readonly limits: LimitBook
  close(deadline: AbortSignal): Promise<void>
}

interface ActorParts extends Watchers {
  readonly host: GraphHost
  readonly rows: readonly LimitRow[]
  readonly billing: boolean
  readonly egress: Pick<Egress, 'send'>
}

function openActors({ ownership, gate, transport, ...ground }: Ground, parts: ActorParts): Actors {
  const { env, tracing } = parts
  const host = tracing === undefined ? parts.host : tracedHost(parts.host, tracing)
  const kinds = kindsOver(ground, { ...parts, host }, (key, command) => router.ask(key, command))
  const epochOf = (key: ActorKey) => {
    const owner = ownership.ownerOf(shardOf(actorKeyText(key), ownership.shards))
    return owner?.member === ownership.self ? owner.epoch : undefined
  }
  const activations = new Activations({
    env, kinds, ...gate && { gate }, owns: (key, epoch) => epochOf(key) === epoch,
  })
  const router = createRouter({
    env, ownership, activations, transport, movable: gate !== undefined,
    ...tracing && { tracing },
  })
  const limits = new LimitBook({ env, router, doors: () => ground.status().view.length })
  let closing = false
  const wakeOne = async (key: ActorKey, pauseMs = wakeAgainMs.first) => {
    const epoch = epochOf(key)
    if (closing || epoch === undefined) return
    try {
      await activations.wake(key, epoch)
    } catch (error) {
      if (closing) return
      env.log.error('A thread could not be woken; it is tried again.', { key, error })
      const nextMs = Math.min(2 * pauseMs, wakeAgainMs.longest)
      env.after(pauseMs, () => void wakeOne(key, nextMs))
    }
  }
  return {
    router, activations, limits,
    wake: async (unfinished) => {
      const next = unfinished.values()
      await Promise.all(Array.from({ length: wokenAtOnce }, async () => {
        for (const { tenant, threadId } of next) {
          await wakeOne({ kind: 'thread', tenant, id: threadId })
        }
      }))
    },
    close: (deadline) => {
      closing = true
      limits.close()
      return activations.close(deadline)
    },
  }
}

type Ports = Pick<Ground, 'log' | 'threads' | 'runs' | 'assistants' | 'limits' | 'askDoors'>

function kindsOver(ports: Ports, parts: ActorParts, ask: Router['ask']): ActorKind[] {
  const { host, rows, egress, billing, env } = parts
  const { log, threads, runs, assistants, limits, askDoors } = ports
  let executions = 0
  return [
    threadKind({
      log, threads, runs, host, env, ask, egress, billing,
      showRun: (run) => runJson(run),
      limits: defaultLimits,
      views: new ByteBudget(viewsBytes),
      feeds: new ByteBudget(feedsBytes),
      nextExecutionId: () => ++executions,
    }),
    assistantKind({ log, index: assistants, env }),
    limitKind({ env, table: limits, askDoors, rules: new Map(rows.map((row) => [row.name, row])) }),
  ]
}

type DoorParts = Omit<FrontDoorOptions, 'host' | 'port' | 'version' | 'allowOrigins'>

async function openDoor(settings: Settings, parts: DoorParts): Promise<FrontDoor> {
  const { host, port, allowOrigins } = settings
  const named = allowOrigins.length === 0 ? {} : { allowOrigins }
  try {
    return await openFrontDoor({ ...parts, ...named, host, port, version: ownVersion() })
  } catch (error) {
    throw portError({ host, port, flags: '--' }, error)
  }
}

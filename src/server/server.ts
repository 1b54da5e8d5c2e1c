/** One member with all that it serves: started stage by stage, stopped in reverse. */

import { createLifecycle } from '../../cluster/index.ts'
import type { ActivationTable, Env, Tracing } from '../../cluster/index.ts'
import { keyAdmin, RunKeys } from '../access/index.ts'
import { withPolicy, openEgress } from '../egress/index.ts'
import type { WebhookPolicy } from '../egress/index.ts'
import { compileProject, ExecutionMarks, graphHosts, memoryMb, readProject, startGraphHost,
  watchProject } from '../graph/index.ts'
import type { Project, RouteGroup, RunningGraphHost } from '../graph/index.ts'
import type { ItemSettings } from '../items/index.ts'
import { limitUseService, Quotas, rateLimits, readLimitOverrides, ReadQuota,
  RefusedCallers } from '../limits/index.ts'
import type { RateLimit } from '../limits/index.ts'
import { catalogClient, openPlatform, ruleClient } from '../platform/index.ts'
import type { Platform } from '../platform/index.ts'
import { ownVersion } from '../settings/index.ts'
import type { Settings } from '../settings/index.ts'
import { createThreadClient, Quarantine } from '../thread/index.ts'
import { openActors } from './actors.ts'
import { watchClock } from './clock-jumps.ts'
import { openAdminSocket } from './admin-socket.ts'
import { activityService } from './backends/actor-activity.ts'
import type { Backend } from './backends/backend.ts'
import { openCassandraBackend } from './backends/cassandra-backend.ts'
import { openEmbeddedBackend } from './backends/embedded-backend.ts'
import { memberDetailsService } from './backends/member-details.ts'
import { meteredLog } from './metrics/metered-ports.ts'
import { openMetricsServer } from './metrics/metrics-port.ts'
import type { MetricsServer } from './metrics/metrics-port.ts'
import { Metrics } from './metrics/metrics.ts'
import { deployedSettings } from './deployments/deployed-settings.ts'
import { laterServing } from './deployments/later-serving.ts'
import { openDeployments } from './deployments/open-deployments.ts'
import { revisionsAdmin, revisionsService } from './deployments/revisions-admin.ts'
import { readRollouts, readServing } from './deployments/serving-metrics.ts'
import { graphConfigOf } from './graph-config.ts'
import { itemsWithinQuota } from './graph-items.ts'
import { openGraphsUsers } from './graphs-users/graphs-users.ts'
import { drainService, endByOperator } from './drain.ts'
import { openDoor } from './open-front-door.ts'
import { removeGoneTraces } from './own-traces/gone-traces.ts'
import { OwnRuns } from './own-traces/own-runs.ts'
import { ownViews } from './own-traces/own-views.ts'
import { portError } from './port-error.ts'
import { countRemovedSpans, readActors, readLimits, readOwnership, readReads, readServer,
  readWorkers } from './readings.ts'
import { runningRuns } from './own-traces/running-runs.ts'
import { rulePort } from './rule-port.ts'
import { watchRules } from './rule-watch.ts'
import { secretsAdmin, secretsService } from './secrets-admin.ts'
import { secretsKeysOf } from './secrets-keys.ts'
import { tracedSteps } from './traced-steps.ts'
import { readTracingHeaders } from './tracing-headers.ts'
import type { OpenTracing } from './tracing.ts'

/** A running server with its addresses. */
export interface Server {
  /** URL for clients; undefined if it answers no clients. */
  readonly url: string | undefined
  /** URL of the web page; undefined if none is served. */
  readonly studioUrl: string | undefined
  /** URL of the platform's own port; undefined if it has none. */
  readonly platformUrl: string | undefined
  /** The separate port for metrics; undefined if there is none. */
  readonly metricsPort: number | undefined
  /** Description of the place of the data. */
  readonly place: string
  /** Name by which other members know this one; undefined if there can be no others. */
  readonly member: string | undefined
  /** All graphs that the project names, including those that cannot be loaded. */
  readonly graphs: readonly ServedGraph[]
  /**
   * Ends within the time that the settings give it. Runs that are cut short resume at the next
   * start.
   */
  close(): Promise<void>
}

/** A graph of the project, for the banner at the start. */
export interface ServedGraph {
  readonly graphId: string
  readonly file: string
  readonly loaded: boolean
}

/** Time for a start. A longer one never succeeds: a disk hangs, or a graph's own code. */
const startMs = 60_000
/** Time to open the store. It is longer, as another member may be making the tables first. */
const storeStartMs = 240_000

/** Share of the shutdown time that each stage may take, in the order in which they end. */
const endingShares = { shards: 0.51, metrics: 0.01, keys: 0.01, door: 0.05, runs: 0.15, actors: 0.1,
  graphs: 0.03, deployments: 0.02, platform: 0.02, store: 0.1, traces: 0.02 } as const

/**
 * Age at which rules read the ends of spans. Clocks of several members differ, so theirs is longer.
 */
const ruleLagMs = { one: 2_000, many: 5_000 } as const

/** Time after which the verdicts on all runs in progress are on disk. */
const judgedMs = 5_000

/** Share of the time for giving shards back after which runs in progress are cut short. */
const releaseShare = 0.8

/**
 * Starts a server. Resolves when it serves. Throws HeddleError with a message if a setting cannot
 * work.
 */
export async function openServer(settings: Settings, env: Env,
  endProcess: (reason: string) => void): Promise<Server> {
  const { cassandra, dataDirectory: directory, drainMs, region, graphsUsers } = settings
  const rows = limitsOf(settings)
  const project = await readProject(settings.config, { ignoreAuth: settings.ignoreAuth })
  const graphConfig = graphConfigOf(settings, project)
  for (const warning of [...project.warnings, ...graphConfig.stray]) env.log.warn(warning)
  if (graphsUsers) await openGraphsUsers(graphsUsers, directory)
  const metrics = new Metrics()
  readServer(metrics, ownVersion())
  const lifecycle = createLifecycle(env)
  const stage = <T>(name: keyof typeof endingShares, start: () => T | Promise<T>,
    stop: (value: T, deadline: AbortSignal) => unknown) =>
    lifecycle.start(name, { start, stop, stopMs: drainMs * endingShares[name],
      startMs: name === 'store' && cassandra !== null ? storeStartMs : startMs })

  const tracing = await stage('traces', () => openTracing(settings, env),
    (tracing) => tracing?.close())
  const watchers = { env, metrics, ...tracing && { tracing } }
  const marks = cassandra === null ? marksIn(directory, env) : undefined
  const [backend,
    { host: graphs, webhooks, itemSettings, disabledRoutes, timeToLive: defaultTimeToLive }] =
      await Promise.all([
        stage('store', () => openBackend(settings, { ...watchers, endProcess }),
          (backend, deadline) => backend.close(deadline)),
        stage('graphs', () => openGraphs(project, settings, { env, marks }),
          ({ close }) => close()),
      ])
  const { egressProxy: proxy, egressAllow: allowed } = settings
  const secretsKeys = secretsKeysOf(settings, env)
  const wayOut = openEgress({ env, version: ownVersion(), proxy, allowed })
  const egress = withPolicy(wayOut, webhooks)
  const runKeys = settings.auth === 'keys' ? new RunKeys(env) : undefined
  const later = laterServing()
  const settingsOf = deployedSettings({ deployed: later.graphs, wayOut,
    own: { egress, itemSettings, timeToLive: defaultTimeToLive },
    variablesOf: (namespace) => deployments.variablesOf(namespace) })
  const reads = new ReadQuota(env)
  readReads(metrics, reads)
  const quarantine = new Quarantine(env, marks?.left())
  const tracesSteps = (runId: string) => graphs.tracesSteps(runId)
  const ownRuns = settings.ownTraces === 'off' ? undefined : new OwnRuns(env, tracesSteps)
  let opened: Platform | undefined
  const actors = await stage('actors',
    () =>
      openActors(backend, { ...watchers, runKeys, host: graphs, deployed: later.graphs, rows,
        egress: settingsOf.egress, reads, billing: settings.billing, quarantine,
        quotas: settings.quotas, assistantDefaults: graphConfig.defaults,
        itemSettings: settingsOf.itemSettings, defaultTimeToLive: settingsOf.timeToLive,
        ruleEngine: () => opened?.ruleEngine, runsGone: removeGoneTraces({ ownRuns, platform: () =>
          opened, env, tracesSteps }), ...ownRuns && { runsEnded: (runs) =>
          ownRuns.ended(runs) } }), async (actors, deadline) => {
    await actors.close(deadline)
    await wayOut.close()
  })
  const rules = ruleClient(actors.router, env)
  const threads = createThreadClient({ router: actors.router, env, reads,
    threads: backend.everybody.threads, newThreadId: env.uuid })
  const platform = await stage('platform',
    () =>
      openPlatform({ store: backend.spans, catalogs: catalogClient(actors.router), env,
        egress: wayOut, ...secretsKeys && { secretsKeys }, handles: settings.hubHandle,
        modelQuota: settings.modelQuota,
        own: { ...ownViews(threads), runningRuns: ownRuns === undefined
          ? async () => []
          : runningRuns({ runs: backend.runs, threads, projects: () => opened?.projects }) },
        rules: { client: rules, lagMs: ruleLagMs[cassandra === null ? 'one' : 'many'],
          ways: rulePort({ egress, graphs: graphHosts(graphs, later.graphs), runs: actors.runs }) },
        onRemoval: countRemovedSpans(metrics),
        ...ownRuns && { settled: () => ownRuns.settled() } }), async (platform) => {
    opened = undefined
    await ownRuns?.close()
    await platform.close()
  })
  opened = platform
  ownRuns?.handOverTo(platform)
  const steps = tracedSteps(platform)
  graphs.useTraces(steps)
  const deployments = await stage('deployments',
    () =>
      openDeployments({ settings, env, backend, platform, secretsKeys, graphs, later, reads,
        memoryMb: memoryMb(), router: actors.router, items: actors.items, runs: actors.runs,
        owns: actors.owns }), ({ close }) => close())
  const { activations, limits, wakeAt } = actors
  const activity = activityService(activations)
  const refused = new RefusedCallers(env)
  const limitUse = limitUseService({ counters: actors.counters, clients: limits, refused })
  const details = memberDetailsService({ env, version: ownVersion(),
    actors: () => actorsIn(activations), runs: () => graphs.stats().underWay })
  const secrets = secretsAdmin({ keys: backend.keys,
    secrets: { env, keys: secretsKeys, catalogs: catalogClient(actors.router) } })
  const revisions = revisionsAdmin(deployments.door.records)
  const use = (tenant: string) => backend.everybody.use(tenant)
  const quotas = new Quotas({ limits: settings.quotas, use }, env)
  const items = itemsWithinQuota(actors.items, quotas)
  graphs.useItems(items)
  const woken = Promise.withResolvers<void>()
  const wake: typeof actors.wake = (threads) => actors.wake(threads).finally(woken.resolve)
  await stage('runs', () =>
    backend.begin({
      activations,
      wake,
      wakeAt,
      services: [activity, limitUse, details, secretsService(secrets), drainService(endByOperator),
        revisionsService(revisions), ...deployments.services],
      recentOf: (question) => limits.recent(question),
      releaseMs: drainMs * endingShares.shards * releaseShare,
    }), async (_, deadline) => {
    await Promise.all([graphs.drain(deadline), deployments.drain(deadline)])
  })
  const stopClockWatch = watchClock({ env, directory, wentBack: () => wakeAt(0) })
  const serving = await deployments.begin()
  serving.useHost.useItems(items)
  serving.useHost.useTraces(steps)
  readOwnership(metrics, backend)
  readActors(metrics, activations)
  readWorkers(metrics, () => graphs.stats())
  readServing(metrics, serving)
  readRollouts(metrics, serving, deployments.rolloutsEnded, env)
  readLimits(metrics, limits)
  const answersClients = cassandra?.member.roles.includes('frontdoor') ?? true
  const door = !answersClients
    ? undefined
    : await stage('door',
      () =>
        openDoor(settings, { ...watchers, assistantDefaults: graphConfig.defaults, runKeys, backend,
          graphs, actors, rows, reads, platform, egress: settingsOf.egress, deployed: later.graphs,
          deployments: deployments.door, activity, refused, limitUse, details, disabledRoutes }),
      (door, deadline) => door.close(deadline))
  graphs.servedAt(door?.url)
  await serving.useHost.servedAt(door && ((name) => door.urlOfDeployment(name)))
  // Now clients are answered. In a cluster, threads are woken whenever their owner dies.
  if (marks === undefined) quarantine.open()
  else void woken.promise.then(() => begin(quarantine, marks, env))
  if (cassandra === null) {
    const admin = keyAdmin({ table: backend.keys, region, env })
    await stage('keys', () =>
      openAdminSocket({ directory, url: door?.url, env, keyAdmin: admin, billing: backend.billing,
        secrets, revisions }), (socket) =>
      socket?.close())
  }
  const { metrics: metricsPlace } = settings
  const metricsServer = metricsPlace === null
    ? undefined
    : await stage('metrics', () => openMetrics(metricsPlace, metrics), (door) => door.close())
  // Comes before the front door closes: requests that come while shards move go to the new owners.
  await stage('shards',
    () =>
      watchRules({ records: platform.rules!.records, client: rules, env, owns: (key) =>
        actors.owns(key) }), (stopWatching) => {
    stopWatching()
    stopClockWatch()
    return backend.giveBack()
  })
  const served = project.graphs.map(({ graphId, file }) => ({ graphId, file,
    loaded: graphs.describe(graphId)?.failed !== true })
  )
  const { place, name: member } = backend
  return {
    url: door?.url,
    studioUrl: door?.studioUrl,
    platformUrl: door?.platformUrl,
    metricsPort: metricsServer?.port,
    place,
    member,
    graphs: served,
    close: lifecycle.stop,
  }
}

function actorsIn(activations: ActivationTable): number {
  return [...activations.stats().values()].reduce((sum, { alive }) => sum + alive, 0)
}

/** Receivers of the reports of each part. */
interface Watchers {
  readonly env: Env
  readonly metrics: Metrics
  /** Undefined if there is no collector. */
  readonly tracing?: Tracing
}

/** Undefined if the directory cannot be used. The store reports that. */
function marksIn(directory: string, env: Env): ExecutionMarks | undefined {
  try {
    return new ExecutionMarks(directory, env.uuid())
  } catch {
    return undefined
  }
}

/** Lets suspects begin, when all innocent runs continue. */
function begin(quarantine: Quarantine, marks: ExecutionMarks, env: Env): void {
  quarantine.open()
  env.after(judgedMs, () => marks.forgetEarlier())
}

async function openBackend(settings: Settings,
  watchers: Watchers & { endProcess(reason: string): void }): Promise<Backend> {
  const { env, metrics, endProcess } = watchers
  const { cassandra, dataDirectory: directory, inRegion, traces } = settings
  const region = inRegion ? settings.region : undefined
  const backend = cassandra === null
    ? await openEmbeddedBackend(directory, env, endProcess, traces)
    : await openCassandraBackend({ settings: cassandra, region, directory, ...watchers })
  return { ...backend, log: meteredLog(backend.log, metrics, env) }
}

/** Starts tracing. Without a collector, not even the library is loaded. */
async function openTracing({ tracing }: Settings, env: Env): Promise<OpenTracing | undefined> {
  if (tracing === null) return undefined
  readTracingHeaders(process.env)
  const { startTracing } = await import('./tracing.ts')
  return startTracing({ ...tracing, version: ownVersion(), instance: env.uuid(), env })
}

function openMetrics(place: NonNullable<Settings['metrics']>,
  metrics: Metrics): Promise<MetricsServer> {
  return openMetricsServer(metrics, place).catch((error: unknown) => {
    throw portError({ ...place, flags: '--metrics-' }, error)
  })
}

function limitsOf({ region, limitOverrides: file }: Settings): readonly RateLimit[] {
  return rateLimits(region, file === null ? undefined : readLimitOverrides(file))
}

interface Graphs {
  readonly host: RunningGraphHost
  /** Policy for the webhooks of runs, which the project states at the time of the call. */
  webhooks(): WebhookPolicy
  /** Settings for items, which the project states at the time of the call. */
  itemSettings(): ItemSettings
  /**
   * Time to live of new threads, which the project states at the time of the call; undefined for no
   * end.
   */
  timeToLive(): Project['timeToLive']
  /** Groups of routes that the project turns off at the time of the call. */
  disabledRoutes(): readonly RouteGroup[]
  close(): Promise<void>
}

async function openGraphs(project: Project,
  { workers, workerHeapMb: heapMb, graphEnv: variables, reload, ownTraces, ownTracesRatio }:
    Settings, { env, marks }: { env: Env; marks: ExecutionMarks | undefined }): Promise<Graphs> {
  // Relative paths in the project's code start from its configuration, as with the project's own
  // tools.
  process.chdir(project.root)
  const compiled = await compileProject(project)
  const host = await startGraphHost({ project: compiled, workers, heapMb, variables, marks, env,
    tracedRatio: ownTraces === 'deep' ? ownTracesRatio : undefined })
  const cannotReload = ({ message: reason, cause: error }: Error) =>
    env.log.error('The changed project cannot be loaded; the one before it stays.', { reason,
      ...error !== undefined && { error } })
  let { webhooks, store, timeToLive, settings: { disabled_routes: disabledRoutes = [] } } = project
  const stopWatching = !reload ? () => {} : watchProject(env, project, compiled, {
    changed: (compiled, project) => {
      host.reload(compiled).then((opened) => {
        if (opened === 'superseded') return
        webhooks = project.webhooks
        store = project.store
        timeToLive = project.timeToLive
        disabledRoutes = project.settings.disabled_routes ?? []
        env.log.info('The project was reloaded.')
      }, cannotReload)
    },
    failed: cannotReload,
  })
  return {
    host,
    webhooks: () => webhooks,
    itemSettings: () => itemSettingsOf(store, host),
    timeToLive: () => timeToLive,
    disabledRoutes: () => disabledRoutes,
    close: async () => {
      stopWatching()
      await host.close()
      marks?.close()
    },
  }
}

function itemSettingsOf({ embedding, ...store }: Project['store'],
  host: Pick<RunningGraphHost, 'embed'>): ItemSettings {
  if (embedding === undefined) return store
  const { dims, fields } = embedding
  return { ...store, index: { dims, fields, embed: (texts, kind) => host.embed(texts, kind) } }
}

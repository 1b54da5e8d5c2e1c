/** One member with all that it serves: started stage by stage, stopped in reverse. */

import type { ActivationTable, Env } from '../../cluster/index.ts'
import { keyAdmin } from '../access/index.ts'
import type { BuiltFrontDoor, FrontDoor } from '../frontdoor/index.ts'
import { readProject } from '../graph/index.ts'
import type { ExecutionMarks, Project } from '../graph/index.ts'
import { limitUseService, Quotas, rateLimits, readLimitOverrides,
  RefusedCallers } from '../limits/index.ts'
import type { RateLimit } from '../limits/index.ts'
import { catalogClient } from '../platform/index.ts'
import { ownVersion } from '../settings/index.ts'
import type { Settings } from '../settings/index.ts'
import type { Serving } from '../deployment/index.ts'
import type { Quarantine } from '../thread/index.ts'
import { openAdminSocket } from './admin-socket.ts'
import { activityService } from './backends/actor-activity.ts'
import { memberDetailsService } from './backends/member-details.ts'
import { openBase } from './stages/base.ts'
import type { Base } from './stages/base.ts'
import { watchClock } from './clock-jumps.ts'
import { revisionsAdmin, revisionsService } from './deployments/revisions-admin.ts'
import { readRollouts, readServing } from './deployments/serving-metrics.ts'
import { drainService, endByOperator } from './drain.ts'
import { graphConfigOf } from './graph-config.ts'
import { itemsWithinQuota } from './graph-items.ts'
import { takeNamed } from './graphs-users/default-users.ts'
import { openGraphsUsers } from './graphs-users/graphs-users.ts'
import { namedUsers } from './graphs-users/named-users.ts'
import { requireDataDirectory } from './stages/data-directory.ts'
import { openMember } from './stages/member.ts'
import type { Member } from './stages/member.ts'
import { openMetricsServer } from './metrics/metrics-port.ts'
import type { MetricsServer } from './metrics/metrics-port.ts'
import { Metrics } from './metrics/metrics.ts'
import { buildDoor } from './open-front-door.ts'
import { portError } from './port-error.ts'
import { readActors, readHeldRuns, readLimits, readLogCache, readOwnership, readServer,
  readWorkers } from './readings.ts'
import { secretsAdmin, secretsService } from './secrets-admin.ts'
import { watchWork } from './wake-watch.ts'
import { noStages, releaseMsOf } from './stages/stages.ts'
import type { StartStage } from './stages/stages.ts'

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

/** Time after which the verdicts on all runs in progress are on disk. */
const judgedMs = 5_000

/** All that the later stages of a start need. */
interface Start {
  readonly settings: Settings
  readonly env: Env
  readonly metrics: Metrics
  readonly start: StartStage
  readonly rows: readonly RateLimit[]
  readonly assistantDefaults: ReturnType<typeof graphConfigOf>['defaults']
}

/**
 * Starts a server. Resolves when it serves. Throws HeddleError with a message if a setting cannot
 * work.
 */
export async function openServer(settings: Settings, env: Env,
  endProcess: (reason: string) => void): Promise<Server> {
  const rows = limitsOf(settings)
  const project = await readProject(settings.config, {
    ignoreAuth: settings.ignoreAuth,
    record: settings.record ?? undefined,
  })
  const graphConfig = graphConfigOf(settings, project)
  for (const warning of [...project.warnings, ...graphConfig.stray]) env.log.warn(warning)
  requireDataDirectory(settings)
  const users = namedUsers(settings)
  if (users !== undefined) {
    await openGraphsUsers(users, settings.dataDirectory)
    takeNamed(users, env)
  }
  const metrics = new Metrics()
  readServer(metrics, ownVersion())
  const { start, stop } = noStages(settings, env)
  const starting: Start = { settings, env, metrics, start, rows,
    assistantDefaults: graphConfig.defaults }
  const base = await openBase({ ...starting, project, endProcess })
  const member = await openMember({ ...starting, base })
  const asked = servicesOf(starting, base, member)
  // Before others expect heartbeats of this member, as it blocks the event loop.
  const routes = await buildRoutes(starting, { base, member, asked })
  const { woken, serving, stopClockWatch } = await beginRuns(starting, { base, member, asked })
  const door = await openToClients(starting, base, routes)
  base.graphs.servedAt(door?.url)
  base.waysOut.ownRoutes.servedAt(door)
  await serving.useHost.servedAt(door && ((name) => door.urlOfDeployment(name)))
  // Now clients are answered. In a cluster, threads are woken whenever their owner dies.
  const { marks, quarantine } = base
  if (marks === undefined) quarantine.open()
  else void woken.then(() => begin(quarantine, marks, env))
  const metricsServer = await openToOperators(starting, { base, asked, url: door?.url })
  await holdShards(starting, { base, member, stopClockWatch })
  const { place, name } = base.backend
  return {
    url: door?.url,
    studioUrl: door?.studioUrl,
    platformUrl: door?.platformUrl,
    metricsPort: metricsServer?.port,
    place,
    member: name,
    graphs: servedGraphs(project, base),
    close: stop,
  }
}

/** The parts of a member that others ask, and operators. */
function servicesOf({ env }: Start, { backend, graphs: { host }, secretsKeys }: Base,
  { actors: { activations, counters, limits, router }, deployments }: Member) {
  const refused = new RefusedCallers(env)
  const { tables } = backend
  return {
    refused,
    activity: activityService(activations),
    limitUse: limitUseService({ counters, clients: limits, refused }),
    details: memberDetailsService({ env, version: ownVersion(), tables,
      actors: () => actorsIn(activations), runs: () => host.stats().underWay }),
    secrets: secretsAdmin({ keys: backend.keys,
      secrets: { env, keys: secretsKeys, catalogs: catalogClient(router) } }),
    revisions: revisionsAdmin(deployments.door.records),
  }
}

/** A member that is open, with the parts that others ask. */
interface OpenMember {
  readonly base: Base
  readonly member: Member
  readonly asked: ReturnType<typeof servicesOf>
}

/** Lets runs begin. `woken` resolves when all threads were woken that have something to do. */
async function beginRuns({ settings, env, metrics, start }: Start,
  { base, member, asked }: OpenMember
): Promise<
  { readonly woken: Promise<void>; readonly serving: Serving; readonly stopClockWatch: () => void }
> {
  const { backend, graphs: { host } } = base
  const { actors, deployments, steps } = member
  const { activations, limits, opened, wakeAt } = actors
  const use = (tenant: string) => backend.everybody.use(tenant)
  const quotas = new Quotas({ limits: settings.quotas, use }, env)
  const items = itemsWithinQuota(actors.items, quotas)
  host.useItems(items)
  const woken = Promise.withResolvers<void>()
  const wake: typeof actors.wake = (threads) => actors.wake(threads).finally(woken.resolve)
  await start('runs', () =>
    backend.begin({
      activations,
      wake,
      opened,
      wakeAt,
      services: [asked.activity, asked.limitUse, asked.details, secretsService(asked.secrets),
        drainService(endByOperator), revisionsService(asked.revisions), ...deployments.services],
      recentOf: (question) => limits.recent(question),
      releaseMs: releaseMsOf(settings),
    }), async (_, deadline) => {
    await Promise.all([host.drain(deadline), deployments.drain(deadline)])
  })
  const stopClockWatch = watchClock({ env, directory: settings.dataDirectory,
    wentBack: () => wakeAt(0) })
  const serving = await deployments.begin()
  serving.useHost.useItems(items)
  serving.useHost.useTraces(steps)
  readOwnership(metrics, backend)
  readLogCache(metrics, backend)
  readHeldRuns(metrics, backend)
  readActors(metrics, activations)
  readWorkers(metrics, () => host.stats())
  readServing(metrics, serving)
  readRollouts(metrics, serving, deployments.rolloutsEnded, env)
  readLimits(metrics, limits)
  return { woken: woken.promise, serving, stopClockWatch }
}

/** Builds the front door; undefined if this member answers no clients. */
async function buildRoutes({ settings, start, rows, assistantDefaults }: Start,
  { base, member, asked }: OpenMember): Promise<BuiltFrontDoor | undefined> {
  const { backend, graphs: { host, disabledRoutes, http, components, auth }, later, reads, runKeys,
    watchers } = base
  const { actors, platform, egress, deployments } = member
  const { activity, refused, limitUse, details } = asked
  const answersClients = settings.cassandra?.member.roles.includes('frontdoor') ?? true
  if (!answersClients) return undefined
  return start('routes',
    () =>
      buildDoor(settings, { ...watchers, assistantDefaults, runKeys, backend, graphs: host, actors,
        rows, reads, platform, egress, deployed: later.graphs, deployments: deployments.door,
        activity, refused, limitUse, details, disabledRoutes, projectHttp: http, components,
        projectAuth: auth }), (routes) => routes.close())
}

/** Opens the front door; undefined if this member answers no clients. */
async function openToClients({ start }: Start, { waysOut }: Base,
  routes: BuiltFrontDoor | undefined): Promise<FrontDoor | undefined> {
  if (routes === undefined) return undefined
  return start('door', () => routes.open(), (door, deadline) => {
    waysOut.ownRoutes.notServed()
    return door.close(deadline)
  })
}

/** Opens the socket for commands on this machine, and the port of metrics. */
async function openToOperators({ settings, env, metrics, start }: Start,
  { base: { backend }, asked: { secrets, revisions }, url }: Pick<OpenMember, 'base' | 'asked'> & {
    readonly url: string | undefined
  }): Promise<MetricsServer | undefined> {
  const { cassandra, dataDirectory: directory, region, metrics: place } = settings
  if (cassandra === null) {
    const admin = keyAdmin({ table: backend.keys, region, env })
    await start('keys', () =>
      openAdminSocket({ directory, url, env, keyAdmin: admin, billing: backend.billing, secrets,
        revisions }), (socket) =>
      socket?.close())
  }
  if (place === null) return undefined
  return start('metrics', () => openMetrics(place, metrics), (door) => door.close())
}

/** Comes before the front door closes: requests that come while shards move go to new owners. */
async function holdShards({ env, start }: Start,
  { base: { backend }, member: { actors, platform, rules, deletions, experiments },
    stopClockWatch }: Pick<
      OpenMember,
      'base' | 'member'
    > & { readonly stopClockWatch: () => void }): Promise<void> {
  await start('shards',
    () =>
      watchWork(platform, { rules, deletions, experiments, env, owns: (key) => actors.owns(key) }),
    (stopWatching) => {
      stopWatching()
      stopClockWatch()
      return backend.giveBack()
    })
}

function servedGraphs(project: Project, { graphs: { host } }: Base): readonly ServedGraph[] {
  return project.graphs.map(({ graphId, file }) => ({ graphId, file,
    loaded: host.describe(graphId)?.failed !== true })
  )
}

function actorsIn(activations: ActivationTable): number {
  return [...activations.stats().values()].reduce((sum, { alive }) => sum + alive, 0)
}

/** Lets suspects begin, when all innocent runs continue. */
function begin(quarantine: Quarantine, marks: ExecutionMarks, env: Env): void {
  quarantine.open()
  env.after(judgedMs, () => marks.forgetEarlier())
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

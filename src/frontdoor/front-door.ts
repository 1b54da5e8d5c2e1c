/** The front door: opened on a host and port, it serves every protocol until it is closed. */

import { fastify } from 'fastify'
import type { FastifyInstance, RawServerDefault } from 'fastify'
import type { AddressInfo } from 'node:net'

import type { Env } from '../../cluster/index.ts'
import type { KeyStats, TenantKeys } from '../access/index.ts'
import { bodyMbMax } from '../api/index.ts'
import { CodedError } from '../errors.ts'
import type { RouteGroup } from '../graph/index.ts'
import { noUse, Quotas, unlimited } from '../limits/index.ts'
import type { QuotaOptions, QuotaStats } from '../limits/index.ts'
import { adminRoutes } from './admin/app.ts'
import type { ClusterSource } from './admin/cluster-watch.ts'
import type { LimitSource } from './admin/limit-report.ts'
import { accessOfCalls } from './connect/access.ts'
import { addConnect } from './connect/plugin.ts'
import { errorReply } from './error-reply.ts'
import { holdBodies, roomForBodies } from './http/body-quota.ts'
import { localTenant } from './http/caller.ts'
import { ConnectionQuota } from './http/connections/connection-quota.ts'
import type { ConnectionQuotaOptions } from './http/connections/connection-quota.ts'
import { ConnectionTicker } from './http/connections/connection-ticker.ts'
import type { OpenReplies } from './http/connections/connection-ticker.ts'
import { addExchanges, givenId } from './http/exchange.ts'
import type { ExchangeParts } from './http/exchange.ts'
import { addGuard } from './http/guard.ts'
import type { Limit } from './http/guard.ts'
import { asLocal, identifyBy } from './http/identify.ts'
import type { AuthOptions } from './http/identify.ts'
import { onePort, unguessed } from './http/connections/one-port.ts'
import type { Schemas } from './http/route.ts'
import { holdAnswers } from './http/unread.ts'
import type { UnreadOptions } from './http/unread.ts'
import { SocketServer } from './http/connections/upgrade.ts'
import { whenAborted } from './http/when-aborted.ts'
import type { Platform } from '../platform/index.ts'
import { addControl } from './control/index.ts'
import type { DeploymentParts } from './control/index.ts'
import { DeploymentPorts, mountsOver, quotasOfTenant, requireEnabled,
  ServedHosts } from './mount/index.ts'
import { feedbackLinks, operationsOver } from './operations/index.ts'
import type { OperationParts, Operations } from './operations/index.ts'
import { protocolRoutes } from './protocol-v2/index.ts'
import { addPlatform } from './platform-rest/app.ts'
import { errorForm } from './platform-rest/platform-error.ts'
import { PlatformPort } from './platform-rest/platform-port.ts'
import { routedTarget } from './platform-rest/platform-target.ts'
import { addRest } from './rest/app.ts'
import { requireClearPaths } from './rest/clear-path.ts'
import { keepLocal } from './rest/local-safety.ts'
import { servedGraphs } from './rest/server-features.ts'
import type { ServerOffer } from './rest/server-features.ts'
import type { ServerDetails } from './rest/server.ts'
import { addFrontPage } from './front-page.ts'
import { addStudio } from './studio.ts'
import type { StudioOptions } from './studio.ts'
import type { ThreadPlaces } from './rest/thread-place.ts'
import { refuseUnreadable } from './http/connections/unreadable.ts'

/** Parts and settings that a front door needs. Everything optional has its default at the field. */
export interface FrontDoorOptions
  extends Omit<OperationParts, 'quotas'>,
    Pick<ServerDetails, 'dependencies' | 'metrics' | 'region' | 'project'>,
    Pick<ExchangeParts, 'tracing' | 'received'>, ThreadPlaces {
  readonly host: string
  /** 0 for any free port. */
  readonly port: number
  /** Number of ports after `port` that are tried, in order, if it is taken; none by default. */
  readonly nextPorts?: number
  /** The version of this server, for `/info`. */
  readonly version: string
  /** 25 MiB by default. */
  readonly bodyLimitBytes?: number
  /** Bytes of all bodies that are being received; 512 MiB by default. */
  readonly bodiesLimitBytes?: number
  /** Bounds of long answers that clients have not read yet. */
  readonly unread?: UnreadOptions
  /** Origins besides our own that may call, `*` for all; by default, those of this machine. */
  readonly allowOrigins?: readonly string[]
  /** Names besides those of this machine by which callers without keys may call, `*` for all. */
  readonly allowHosts?: readonly string[]
  /** Authentication of callers; by default, they are not authenticated. */
  readonly auth?: AuthOptions
  /** Bound on connections of one address; none by default. */
  readonly connections?: ConnectionQuotaOptions
  /** Charges requests to rate limits; by default, there are none. */
  readonly limit?: Limit
  /** The limits that `limit` charges, and how much of them is used; by default, there are none. */
  readonly limits?: LimitSource
  /** The keys that admins manage; undefined if callers need none. */
  readonly tenantKeys?: TenantKeys
  /** Source from which the view of the cluster comes. */
  readonly cluster: ClusterSource
  /** Groups of routes that the server's own project turns off, asked at each request. */
  readonly disabledRoutes?: () => readonly RouteGroup[]
  /** Quotas of tenants; by default, there are none. */
  readonly quotas?: QuotaOptions
  /** The platform; by default, none is served. */
  readonly platform?: Platform
  /** Deployments; by default, there are none, and no address of theirs. */
  readonly deployments?: DeploymentParts
  /** False to leave the event `end` out of streams of runs; it is sent by default. */
  readonly streamEnd?: boolean
  /** A port of its own for the platform, 0 for any free one; by default, there is none. */
  readonly platformPort?: number
  /** The web page; by default, none is served. */
  readonly studio?: StudioOptions
}

/** An open front door. It belongs to who opened it, who closes it. */
export interface FrontDoor {
  /** The address that it listens on, without a path. */
  readonly url: string
  /** The address of the web page; undefined if none is served. */
  readonly studioUrl: string | undefined
  /** The address of the platform's own port; undefined if it has none. */
  readonly platformUrl: string | undefined
  /**
   * The address of this machine at which a deployment answers at its root, for its own code.
   * Throws if there are no deployments, or if it cannot listen.
   */
  urlOfDeployment(name: string): Promise<string>
  /** Counts of the requests and replies that are open now. */
  stats(): FrontDoorStats
  /**
   * Accepts no more requests, and cuts streams so that their clients reconnect. All other requests
   * are still answered. What is left at `deadline` is cut.
   */
  close(deadline: AbortSignal): Promise<void>
  /** Counts of API keys; undefined if none are required. */
  keyStats(): KeyStats | undefined
  /** Counts of how much of the quotas is used. */
  quotaStats(): QuotaStats
}

/** Counts of what is open at a front door now, and of refused connections. */
export interface FrontDoorStats {
  readonly requests: number
  readonly replies: OpenReplies
  /** Connections that were refused because their address had too many. */
  readonly refusedConnections: number
}

const defaultBodyLimitBytes = bodyMbMax * 1024 * 1024
const defaultBodiesLimitBytes = 512 * 1024 * 1024
const anyConnections: ConnectionQuotaOptions = { perAddress: Infinity, isExempt: () => true }

/** Longer than headers may be. The router would refuse a long path before it is charged. */
const longestParameter = 1024 * 1024

/** Opens a front door. Resolves when it accepts requests. */
export async function openFrontDoor(options: FrontDoorOptions): Promise<FrontDoor> {
  const { host, env, auth, limit, json, deployments, bodyLimitBytes = defaultBodyLimitBytes,
    bodiesLimitBytes = defaultBodiesLimitBytes, connections = anyConnections } = options
  const quotas = new Quotas(quotaOptionsOf(options), env)
  const operations = operationsOver({ ...options, quotas })
  if (auth === undefined) await welcomeLocal(operations, env)
  const quota = new ConnectionQuota(connections)
  const port = onePort(quota)
  const platformPort = options.platformPort === undefined ? undefined : new PlatformPort(quota)
  // They open when deployments are loaded: the ticker is there by then.
  const deploymentPorts = deployments &&
    new DeploymentPorts({ quota, ticker: () => ticker,
      names: () => deployments.serving.all().map(({ name }) => name) })
  const sockets = new SocketServer(bodyLimitBytes)
  const answerError = errorReply(env.log, sockets, errorForm)
  const servedHosts = new ServedHosts()
  const mounts = deployments && mountsOver({ ...deployments, servedHosts })
  const app = fastify({
    bodyLimit: bodyLimitBytes,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: longestParameter },
    genReqId: ({ headers }) => givenId(headers) ?? env.uuid(),
    frameworkErrors: answerError,
    clientErrorHandler: refuseUnreadable,
    // The router sees the path in the same form as the limits.
    rewriteUrl: (request) => mounts?.rewrite(request) ?? routedTarget(request.url ?? '/'),
    serverFactory: (routed) => {
      const handler = unguessed(routed)
      platformPort?.handle(handler)
      deploymentPorts?.handle(handler)
      return port.serve(handler) as RawServerDefault
    },
  }).withTypeProvider<Schemas>()
  app.setErrorHandler(answerError)
  const underWay = addExchanges(app, options)
  requireClearPaths(app)
  await keepLocal(app, { ...options, domain: deployments?.domain,
    deploymentsHosts: deployments?.allowedHosts })
  mounts?.addTo(app)
  const { identify, keyStats } = auth === undefined ? asLocal : identifyBy(auth, env)
  addGuard(app, { identify, limit, ...mounts && { place: mounts.place },
    accessOf: new Map([...accessOfCalls, ['/docs/*', 'public']]) })
  app.addHook('onRequest', async ({ deployment, routeOptions }) => {
    if (!deployment) requireEnabled(routeOptions.url, options.disabledRoutes?.())
  })
  const bodies = roomForBodies(bodiesLimitBytes)
  holdBodies(app, { longest: bodyLimitBytes, quota: bodies })
  // A server with one tenant needs no share for each.
  holdAnswers(app, { reads: options.reads, log: env.log }, {
    ...auth === undefined && { ofTenant: Infinity },
    ...options.unread,
  })
  const ticker = new ConnectionTicker(env)
  ticker.add(port)
  if (platformPort) ticker.add(platformPort.connections)
  const feedbackLinksOf = options.platform && feedbackLinks({ platform: options.platform, env })
  const parts = { ...operations, ticker, quotas, reads: options.reads,
    feedbackLinks: feedbackLinksOf, streamEnd: options.streamEnd }
  const hasStudio = options.studio !== undefined && await addStudio(app, options.studio)
  addFrontPage(app, hasStudio)
  await addRest(app, { ...options, ...parts, json, bodies, offer: offerOf(options, hasStudio),
    failing: deployments?.failing, clusterStatus: options.cluster.status })
  adminRoutes(app, { ...options, ...parts })
  if (options.platform) {
    await addPlatform(app, { ...options, ...parts, platform: options.platform })
  }
  if (deployments) await addControl(app, { ...parts, env, deployments, servedHosts })
  protocolRoutes(app, { ...parts, env, json, bodies, sockets, limit })
  await app.register(addConnect, { ...parts, log: env.log, readMaxBytes: bodyLimitBytes, json,
    bodies })
  let platformAt: number | undefined
  try {
    await listen(app, options)
    platformAt = await platformPort?.listen(host, options.platformPort!)
  } catch (error) {
    ticker.stop()
    await app.close()
    throw error
  }
  const url = urlOf(host, app.server.address() as AddressInfo)
  return {
    url,
    studioUrl: hasStudio ? `${url}/studio/` : undefined,
    platformUrl: platformAt === undefined ? undefined : urlOf(host, { port: platformAt }),
    urlOfDeployment: async (name) => await deploymentPorts!.urlOf(name),
    stats: () => ({ requests: underWay.count, replies: ticker.openReplies(),
      refusedConnections: quota.refused }),
    keyStats,
    quotaStats: () => quotas.stats(),
    close: async (deadline) => {
      using _ = whenAborted(deadline, () => {
        port.destroyConnections()
        platformPort?.connections.destroyConnections()
        deploymentPorts?.destroyConnections()
      })
      ticker.stop()
      await Promise.all([app.close(), platformPort?.close(), deploymentPorts?.close()])
    },
  }
}

/** Tries the ports in order. Throws the system's error for the first one if all are taken. */
async function listen(app: FastifyInstance,
  { host, port, nextPorts = 0 }: FrontDoorOptions): Promise<void> {
  let first: unknown
  for (let next = port; next <= Math.min(port + nextPorts, 65_535); next++) {
    try {
      await app.listen({ host, port: next })
      return
    } catch (error) {
      first ??= error
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    }
  }
  throw first
}

/** Makes the assistants of the local tenant. Failing is harmless: the first request makes them. */
async function welcomeLocal({ assistants }: Operations, { log }: Env): Promise<void> {
  try {
    await assistants.welcome(localTenant)
  } catch (error) {
    if (!(error instanceof CodedError)) throw error
    if (error.code !== 'unavailable' && error.outcome === 'not_done') throw error
    log.warn('The assistants of the graphs cannot be made yet; the first request makes them.', {
      error,
    })
  }
}

function quotaOptionsOf({ quotas, deployments }: FrontDoorOptions): QuotaOptions {
  if (quotas === undefined) return { limits: unlimited, use: async () => noUse }
  return deployments === undefined ? quotas : quotasOfTenant(quotas, deployments.records)
}

function offerOf(
  { auth, platform, graphs, cluster: { embedded }, tenantKeys, deployments }: FrontDoorOptions,
  studio: boolean,
): ServerOffer {
  return {
    auth: auth === undefined ? 'none' : auth.sessions === null ? 'keys' : 'keys+sessions',
    features: { studio, traces: platform !== undefined, crons: true, store: true,
      cluster: !embedded, keys: tenantKeys !== undefined, deployments: deployments !== undefined },
    graphs: () => servedGraphs(graphs),
  }
}

function urlOf(host: string, { port }: Pick<AddressInfo, 'port'>): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** The front door: opened on a host and port, it serves every protocol until it is closed. */

import type { Env } from '../../cluster/index.ts'
import type { KeyStats } from '../access/index.ts'
import { CodedError } from '../errors.ts'
import { graphHosts } from '../graph/index.ts'
import { noUse, Quotas, unlimited } from '../limits/index.ts'
import type { QuotaOptions, QuotaStats } from '../limits/index.ts'
import { agentRoutes } from './a2a/index.ts'
import { adminRoutes } from './admin/app.ts'
import { componentRoutes } from './components.ts'
import { allowedOperations, cronAdmission } from './authorise/index.ts'
import { addConnect } from './connect/plugin.ts'
import { addControl } from './control/index.ts'
import { loginsOf, openApp, resourcesOf } from './door-app.ts'
import type { DoorApp } from './door-app.ts'
import { DoorPorts } from './door-ports.ts'
import type { FrontDoorOptions } from './front-door-options.ts'
import { addFrontPage } from './front-page.ts'
import { localTenant } from './http/caller.ts'
import type { ConnectionTicker, OpenReplies } from './http/connections/connection-ticker.ts'
import { whenAborted } from './http/when-aborted.ts'
import { mcpRoutes } from './mcp/index.ts'
import { quotasOfTenant, ServedHosts } from './mount/index.ts'
import { feedbackLinks, operationsOver } from './operations/index.ts'
import type { Operations } from './operations/index.ts'
import { addPlatform } from './platform-rest/app.ts'
import { resourceRoutes } from './protected-resource.ts'
import { protocolRoutes } from './protocol-v2/index.ts'
import { addRest } from './rest/app.ts'
import { servedGraphs } from './rest/server-features.ts'
import type { ServerOffer } from './rest/server-features.ts'
import { addStudio } from './studio.ts'
import { runCallRoutes } from './run-calls.ts'
import { threadUsageRoutes } from './thread-usage.ts'

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

/** A front door that is built but accepts no requests. It belongs to the caller. */
export interface BuiltFrontDoor {
  /**
   * Accepts requests from now on. Throws the system's error if a port cannot listen; the door is
   * closed then.
   */
  open(): Promise<FrontDoor>
  /** Ends a door that was not opened, too. A second call waits for the first. */
  close(): Promise<void>
}

/**
 * Builds a front door. This blocks the event loop for a second on a busy machine, because all
 * routes compile their schemas in one turn: a member builds its door before others expect
 * heartbeats of it.
 */
export async function buildFrontDoor(options: FrontDoorOptions): Promise<BuiltFrontDoor> {
  const quotas = new Quotas(quotaOptionsOf(options), options.env)
  const operations = operationsOver({ ...options, quotas,
    admitCron: cronAdmission({ ...options,
      graphs: graphHosts(options.graphs, options.deployed) }) })
  const servedHosts = new ServedHosts()
  const ports = new DoorPorts(options)
  let door: DoorApp | undefined
  const close = async () => {
    ports.ticker.stop()
    await door?.app.close()
  }
  try {
    door = await openApp(options, ports, servedHosts)
    const parts = { operations, quotas, servedHosts, ticker: ports.ticker }
    const hasStudio = await addRoutes(options, door, parts)
    await door.app.ready()
    const built = { door, ports, quotas, hasStudio }
    return { close, open: async () => {
      try {
        if (options.auth === undefined) await welcomeLocal(operations, options.env)
        return await listenOn(built)
      } catch (error) {
        await close()
        throw error
      }
    } }
  } catch (error) {
    await close()
    throw error
  }
}

async function listenOn(
  { door, ports, quotas, hasStudio }: { readonly door: DoorApp; readonly ports: DoorPorts;
    readonly quotas: Quotas; readonly hasStudio: boolean },
): Promise<FrontDoor> {
  const { url, platformUrl } = await ports.listen(door.app)
  const studioUrl = hasStudio ? `${url}/studio/` : undefined
  return { url, platformUrl, studioUrl, quotaStats: () => quotas.stats(), ...openDoor(door, ports) }
}

function openDoor({ app, underWay, keyStats }: DoorApp,
  ports: DoorPorts): Pick<FrontDoor, 'urlOfDeployment' | 'stats' | 'keyStats' | 'close'> {
  return {
    urlOfDeployment: (name) => ports.urlOfDeployment(name),
    stats: () => ({ requests: underWay.count, replies: ports.ticker.openReplies(),
      refusedConnections: ports.refused }),
    keyStats,
    close: async (deadline) => {
      using _ = whenAborted(deadline, () => ports.destroyConnections())
      ports.ticker.stop()
      await Promise.all([app.close(), ports.close()])
    },
  }
}

/** Adds the routes of every protocol. Resolves with true if the web page is among them. */
async function addRoutes(options: FrontDoorOptions,
  { app, bodies, sockets, bodyLimitBytes }: DoorApp, { operations, servedHosts, ...shared }: {
    readonly operations: Operations
    readonly quotas: Quotas
    readonly servedHosts: ServedHosts
    readonly ticker: ConnectionTicker
  }): Promise<boolean> {
  const { env, limit, json, platform, deployments, reads, streamEnd, studio, auth,
    agents = { tools: new Set() } } = options
  const parts = { ...allowedOperations(operations, env), ...shared, reads, streamEnd,
    feedbackLinks: platform && feedbackLinks({ platform, env }) }
  const hasStudio = studio !== undefined && await addStudio(app, studio)
  addFrontPage(app, hasStudio)
  await addRest(app, { ...options, ...parts, json, bodies, offer: offerOf(options, hasStudio),
    failing: deployments?.failing, clusterStatus: options.cluster.status })
  threadUsageRoutes(app, { ...parts, platform })
  runCallRoutes(app, { ...parts, platform, serving: deployments?.serving })
  componentRoutes(app, { ...options, ...parts,
    componentsOf: (deployment) =>
      deployment === undefined
        ? options.components
        : deployments?.serving.components?.(deployment) })
  adminRoutes(app, { ...options, ...parts })
  if (platform) await addPlatform(app, { ...options, ...parts, platform })
  if (deployments) await addControl(app, { ...parts, env, deployments, servedHosts })
  if (agents) {
    agentRoutes(app, { ...parts, env, json, isFromProxy: options.isFromProxy,
      agents: { ...agents, auth: auth === undefined ? 'none' : 'keys',
        loginOf: loginsOf(options) } })
  }
  protocolRoutes(app, { ...parts, env, json, bodies, sockets, limit })
  if (options.mcp !== false) mcpRoutes(app, { ...parts, env, json, version: options.version })
  resourceRoutes(app, loginsOf(options), resourcesOf(options))
  await app.register(addConnect, { ...parts, log: env.log, readMaxBytes: bodyLimitBytes, json,
    bodies })
  return hasStudio
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

/** The application of a front door: its server, and the checks before every route. */

import { fastify } from 'fastify'
import type { FastifyRequest, RawServerDefault } from 'fastify'

import type { KeyStats } from '../access/index.ts'
import { bodyMbMax } from '../api/index.ts'
import { isLoopback } from '../settings/index.ts'
import type { InputQuota } from '../thread/index.ts'
import { accessOfCalls } from './connect/access.ts'
import { addAppGate, appFinder, PassedRequests } from './custom/index.ts'
import type { CallerSource } from './custom/index.ts'
import type { DoorPorts } from './door-ports.ts'
import { errorReply } from './error-reply.ts'
import type { FrontDoorOptions } from './front-door-options.ts'
import { holdBodies, roomForBodies } from './http/body-quota.ts'
import { compressAnswers } from './http/compression.ts'
import { SocketServer } from './http/connections/upgrade.ts'
import { refuseUnreadable } from './http/connections/unreadable.ts'
import { addExchanges, givenId } from './http/exchange.ts'
import type { UnderWay } from './http/exchange.ts'
import { addGuard } from './http/guard.ts'
import { localTenant } from './http/caller.ts'
import { addressReader } from './http/connections/client-address.ts'
import { asLocal, identifyBy } from './http/identify.ts'
import type { Identification, Identify } from './http/identify.ts'
import type { App, Schemas } from './http/route.ts'
import { holdAnswers } from './http/unread.ts'
import { unreadableForm } from './mcp/index.ts'
import { ProjectLogins } from './login/index.ts'
import type { LoginOf } from './login/index.ts'
import { addProjectHttp, calledLogins, isOfProject, isTypedCall, mountsOver, ownTarget,
  projectTarget, requireEnabled } from './mount/index.ts'
import type { Mounts, ServedHosts } from './mount/index.ts'
import { errorForm } from './platform-rest/platform-error.ts'
import { challengeOf } from './protected-resource.ts'
import type { ResourceParts } from './protected-resource.ts'
import { requireClearPaths } from './rest/clear-path.ts'
import { isFromHere } from './rest/from-here.ts'
import { keepLocal } from './rest/local-safety.ts'

/** The application before it has routes. */
export interface DoorApp {
  readonly app: App
  readonly sockets: SocketServer
  /** Requests that are being answered. */
  readonly underWay: UnderWay
  /** Bytes of the bodies that are being received. */
  readonly bodies: InputQuota
  /** Longest body in bytes. */
  readonly bodyLimitBytes: number
  /** Counts of API keys; undefined if none are required. */
  keyStats(): KeyStats | undefined
}

const defaultBodyLimitBytes = bodyMbMax * 1024 * 1024
const defaultBodiesLimitBytes = 512 * 1024 * 1024

/** Longer than headers may be. The router would refuse a long path before it is charged. */
const longestParameter = 1024 * 1024

/** Makes the application, which answers on these ports. Its checks come before its routes. */
export async function openApp(options: FrontDoorOptions, ports: DoorPorts,
  servedHosts: ServedHosts): Promise<DoorApp> {
  const { deployments, bodyLimitBytes = defaultBodyLimitBytes,
    bodiesLimitBytes = defaultBodiesLimitBytes } = options
  const sockets = new SocketServer(bodyLimitBytes)
  const mounts = deployments &&
    mountsOver({ ...deployments, servedHosts, own: options.projectHttp })
  const app = createApp({ options, ports, sockets, mounts, bodyLimitBytes })
  const underWay = addExchanges(app, options)
  requireClearPaths(app)
  addProjectHttp(app, { own: options.projectHttp, serving: deployments?.serving })
  mounts?.addTo(app)
  const callers = callersOf(options)
  callers.passed.addTo(app)
  await keepLocal(app, { ...options, domain: deployments?.domain,
    deploymentsHosts: deployments?.allowedHosts,
    corsOf: (request) => isOfProject(request) ? request.projectHttp.cors : undefined })
  addAccess(app, { ...options, bodyLimitBytes }, { mounts, ports, callers })
  const bodies = roomForBodies(bodiesLimitBytes)
  holdBodies(app, { longest: bodyLimitBytes, quota: bodies })
  // A server with one tenant needs no share for each.
  holdAnswers(app, { reads: options.reads, log: options.env.log }, {
    ...options.auth === undefined && { ofTenant: Infinity },
    ...options.unread,
  })
  compressAnswers(app)
  return { app, sockets, underWay, bodies, bodyLimitBytes, keyStats: callers.keyStats }
}

function createApp(
  { options, ports, sockets, mounts, bodyLimitBytes }: {
    readonly options: FrontDoorOptions
    readonly ports: DoorPorts
    readonly sockets: SocketServer
    readonly mounts: Mounts | undefined
    readonly bodyLimitBytes: number
  },
): App {
  const { env, projectHttp } = options
  const resources = resourcesOf(options)
  const answerError = errorReply(env.log, sockets,
    (error, url) => unreadableForm(error, url) ?? errorForm(error, url),
    (request) => challengeOf(request, resources))
  const app = fastify({
    bodyLimit: bodyLimitBytes,
    exposeHeadRoutes: false,
    routerOptions: { maxParamLength: longestParameter },
    genReqId: ({ headers }) => givenId(headers) ?? env.uuid(),
    frameworkErrors: answerError,
    clientErrorHandler: refuseUnreadable,
    // The router sees the path in the same form as the limits.
    rewriteUrl: (request) => mounts?.rewrite(request) ?? ownTarget(request, projectHttp?.()),
    serverFactory: (routed) => ports.serve(routed) as RawServerDefault,
  }).withTypeProvider<Schemas>()
  app.setErrorHandler(answerError)
  return app
}

/** Ways to find out who calls. */
interface Callers extends Identification {
  /** The same, by the login of the project that is called, if it has one. */
  readonly identifyCaller: Identify
  readonly passed: PassedRequests
}

function callersOf(options: FrontDoorOptions): Callers {
  const { auth, env } = options
  const { identify, keyStats } = auth === undefined ? asLocal : identifyBy(auth, env)
  const logins = projectLogins(options, identify)
  const identifyCaller: Identify = (request) => logins.identify(request)
  const passed = new PassedRequests(env, { login: identifyCaller, keys: identify, sourceOf })
  return { identify, keyStats, identifyCaller, passed }
}

/** Checks who calls, and whether the route is turned on. */
function addAccess(app: App, options: FrontDoorOptions & { readonly bodyLimitBytes: number },
  { mounts, ports, callers }: { readonly mounts: Mounts | undefined; readonly ports: DoorPorts;
    readonly callers: Callers }): void {
  const { limit, disabledRoutes, bodyLimitBytes } = options
  const { identify, identifyCaller, passed } = callers
  ports.returns.admit((raw) => passed.takeBack(raw))
  const gate = addAppGate(app, { appOf: appFinder(options), targetOf: projectTarget, identify,
    identifyCaller, limit, place: mounts?.place, passed, returns: ports.returns, bodyLimitBytes,
    sourceOf })
  addGuard(app, { limit, passed, ...mounts && { place: mounts.place },
    identify: (request) => (sourceOf(request) === 'login' ? identifyCaller : identify)(request),
    graphHeadersOf: ({ projectHttp }) => projectHttp.configurable_headers,
    accessOf: new Map([...accessOfCalls, ['/docs/*', 'public']]) })
  app.addHook('onRequest', async ({ deployment, routeOptions }) => {
    if (!deployment) requireEnabled(routeOptions.url, disabledRoutes?.())
  })
  gate.afterGuard()
}

/**
 * The way in which a route finds its callers. The data of projects goes by their logins. All other
 * routes go by the keys of the server, and so do operations on data that only admins may call.
 */
function sourceOf({ routeOptions: { url, config } }: FastifyRequest): CallerSource {
  const isData = config?.operation?.asks !== undefined && config.access !== 'admin'
  return isData || isTypedCall(url) ? 'login' : 'keys'
}

/** Addresses that tokens protect, and who gives these out. */
export function resourcesOf({ auth, isFromProxy, mcp, agents }: FrontDoorOptions): ResourceParts {
  return { issuer: auth?.sessions?.issuer, isFromProxy,
    offers: { tools: mcp !== false, agents: agents !== null } }
}

/** Finds the login of the project that a request calls. */
export function loginsOf(options: FrontDoorOptions): LoginOf {
  return calledLogins({ ...options, serving: options.deployments?.serving,
    ownTenant: options.authTenant ?? localTenant })
}

function projectLogins(options: FrontDoorOptions, identify: Identify): ProjectLogins {
  const { auth, env, host, runKeys, addressOf = addressReader([]) } = options
  const loginOf = loginsOf(options)
  return new ProjectLogins({ identify, hasKeys: auth !== undefined, loginOf, runKeys, addressOf,
    env, isFromHere: (request) => isLoopback(host) && isFromHere(request) })
}

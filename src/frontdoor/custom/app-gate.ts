/**
 * The gate before the routes of an app: which requests the app gets, who is asked for first, and
 * the way of a request back from its middleware.
 */

import type { FastifyReply, FastifyRequest } from 'fastify'

import { HeddleError } from '../../errors.ts'
import { appHeaders, headerJson } from '../../graph/index.ts'
import type { AppFit, AppUser, HttpSettings, ProjectRoutes } from '../../graph/index.ts'
import { nobody, userOf } from '../http/caller.ts'
import type { Caller, Finding } from '../http/caller.ts'
import type { Limit, Place } from '../http/guard.ts'
import { whenClosed } from '../http/ending.ts'
import { bringsNothing } from '../http/identify.ts'
import type { Identify } from '../http/identify.ts'
import { headOf, isUpgrade } from '../http/connections/upgrade.ts'
import type { App } from '../http/route.ts'
import { operationsOfCalls } from '../connect/access.ts'
import { isTypedCall } from '../mount/index.ts'
import { isDescription, isKept, isWrapped, pathOf } from './app-path.ts'
import { askApp, joinSockets, passAnswer } from './app-request.ts'
import type { AppRequestOptions } from './app-request.ts'
import { ownKeyOf } from './passed-requests.ts'
import type { CallerSource, FoundBy, PassedRequests } from './passed-requests.ts'
import type { ReturnPort } from './return-port.ts'

/** The app of the project that a request calls. */
export interface CalledApp {
  readonly routes: ProjectRoutes
  readonly settings: HttpSettings
}

/**
 * Finds the app of a request, and keeps it loaded until the reply is closed. Undefined if its
 * project has none. Throws if it cannot be loaded.
 */
export type FindApp = (request: FastifyRequest,
  reply: FastifyReply) => Promise<CalledApp | undefined>

/** Parts of the gate. */
export interface AppGateParts {
  readonly appOf: FindApp
  /** Path and query of a request as its project sees them. */
  readonly targetOf: (request: FastifyRequest) => string
  /** Authentication by the keys of this server, to charge whoever brings one. */
  readonly identify: Identify
  /** Authentication of callers of the project: by its own login, if it has one. */
  readonly identifyCaller: Identify
  readonly limit?: Limit | undefined
  readonly place?: Place | undefined
  readonly passed: PassedRequests
  /** The way in which a route finds its callers. */
  readonly sourceOf: (request: FastifyRequest) => CallerSource
  readonly returns: Pick<ReturnPort, 'open'>
  /** Bytes that a body may have. */
  readonly bodyLimitBytes: number
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The app of the project that is called; undefined for none, and before the gate. */
    calledApp: CalledApp | undefined
  }
}

/** Requests that apps handle at a time. More are refused, as each takes a connection. */
const passedMax = 4_096

/** Methods that a web request cannot have. */
const unspoken: ReadonlySet<string> = new Set(['TRACE', 'CONNECT', 'TRACK'])

const anybody: Finding = { identity: nobody.identity, caller: nobody }

/** Adds the gate before the guard, and its second half. Call between the guard and the routes. */
export function addAppGate(app: App, parts: AppGateParts): { readonly afterGuard: () => void } {
  app.decorateRequest('calledApp')
  app.decorateRequest('isCharged', false)
  const late = new WeakSet<FastifyRequest>()
  app.addHook('onRequest', async (request, reply) => {
    const before = parts.passed.before(request)
    if (before !== undefined) {
      request.isCharged = true
      requireWrapped(request)
      return undefined
    }
    const fit = await fitOf(parts, request, reply)
    if (fit === undefined) return undefined
    request.isOfApp = true
    const { settings } = request.calledApp!
    if (isWrapped(request.routeOptions.url) && isAround(fit, settings)) {
      if (settings.middleware_order === 'auth_first') {
        late.add(request)
        return undefined
      }
      await charge(parts, request, reply, anybody)
      return await pass(parts, { request, reply, found: undefined })
    }
    return await answerRoute(parts, request, reply)
  })
  return { afterGuard: () =>
    void app.addHook('onRequest', async (request, reply) => {
      if (!late.has(request)) return undefined
      const { caller, finding } = request
      const found = finding && { source: parts.sourceOf(request), finding }
      return await pass(parts, { request, reply, found, caller })
    }) }
}

/**
 * True for a fit that wraps a built-in route. A handler that may be a route counts as one if routes
 * of the app need a caller, because it may rely on that.
 */
function isAround(fit: AppFit, { enable_custom_route_auth: asks }: HttpSettings): boolean {
  return fit === 'middleware' || fit === 'either' && asks !== true
}

/** Finds out how a request fits the app; undefined if it is not the app's. */
async function fitOf({ appOf, targetOf }: AppGateParts, request: FastifyRequest,
  reply: FastifyReply): Promise<AppFit | undefined> {
  const path = pathOf(targetOf(request))
  if (unspoken.has(request.method)) return undefined
  if (isKept(path)) {
    // One that cannot be loaded is described without its routes.
    if (isDescription(path)) request.calledApp = await appOf(request, reply).catch(() => undefined)
    return undefined
  }
  const called = await appOf(request, reply)
  if (called === undefined) return undefined
  request.calledApp = called
  const { routes } = called
  const { is404, method, routeOptions: { url: pattern } } = request
  requireNotAvoided(routes, method, pattern)
  const fit = routes.fit(method, path)
  const isBuiltIn = !is404 && pattern !== undefined && !pattern.endsWith('*')
  if (fit === 'unknown') return is404 && method !== 'OPTIONS' ? fit : undefined
  if (fit === 'route' || !isBuiltIn || isWrapped(pattern)) return fit
  return fit === 'either' && routes.hasPath(path) ? fit : undefined
}

/**
 * Throws `forbidden` for a typed call, if a handler of the app gets the same operation over REST
 * and does not get the call. The call would otherwise avoid the handler.
 */
function requireNotAvoided({ isAvoided }: ProjectRoutes, method: string,
  path: string | undefined): void {
  const operations = operationsOfCalls.get(path ?? '')
  if (operations === undefined || !isAvoided({ method, path: path! }, operations)) return
  throw new HeddleError('forbidden',
    'The app of this project gets this operation over REST only. ' +
      `Send it there: ${operations[0].method} ${operations[0].path}.`)
}

/** A route of the app, or a path that nobody has: its callers are identified if it says so. */
async function answerRoute(parts: AppGateParts, request: FastifyRequest,
  reply: FastifyReply): Promise<FastifyReply | undefined> {
  const asks = request.calledApp!.settings.enable_custom_route_auth === true
    && request.method !== 'OPTIONS'
  if (!asks) {
    await charge(parts, request, reply, anybody)
    await parts.place?.(request, reply, { caller: nobody, isPublic: true, isOfApp: true })
    return await pass(parts, { request, reply, found: undefined })
  }
  const own = parts.passed.ofKey(request)
  const finding = await (own?.identify('login') ?? parts.identifyCaller(request))
  await charge(parts, request, reply, finding)
  if ('refused' in finding) throw finding.refused
  const caller =
    await parts.place?.(request, reply, { caller: finding.caller, isPublic: false,
      isOfApp: true }) ?? finding.caller
  return await pass(parts, { request, reply, found: { source: 'login', finding }, caller })
}

/** Charges a request once. Whoever brings a key is charged for it, without being asked for more. */
async function charge({ limit, identify }: AppGateParts, request: FastifyRequest,
  reply: FastifyReply, finding: Finding): Promise<void> {
  if (limit === undefined) return
  const isKeyed = finding === anybody && !bringsNothing(request)
  await limit(request, isKeyed ? await identify(request) : finding, reply)
  request.isCharged = true
}

interface Passing {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly found: FoundBy | undefined
  readonly caller?: Caller
}

/** Gives a request to the app. Undefined if it is only asked whether the request may go on. */
async function pass(parts: AppGateParts,
  { request, reply, found, caller }: Passing): Promise<FastifyReply | undefined> {
  const { passed, returns, bodyLimitBytes, targetOf } = parts
  if (passed.count >= passedMax) {
    throw new HeddleError('full', 'Too many requests wait for apps: send this one again in a ' +
      'moment.')
  }
  const { routes } = request.calledApp!
  const secret = passed.add({ request, found })
  whenClosed(reply.raw, () => passed.end(secret))
  const options: AppRequestOptions = {
    address: await routes.address(),
    nextAddress: (gone) => routes.address(gone),
    target: targetOf(request),
    bodyBytesMax: Math.min(bodyLimitBytes, request.deployment?.bodyBytesMax ?? Infinity),
    said: { [appHeaders.back]: `${await returns.open()}:${secret}`,
      [appHeaders.key]: ownKeyOf(secret),
      ...caller && { [appHeaders.user]: headerJson(shownUser(caller)) } },
  }
  const { url: pattern } = request.routeOptions
  const isBuiltIn = isWrapped(pattern) && !request.is404
  if (isBuiltIn && (isUpgrade(request) || isTypedCall(pattern))) {
    return await check(request, reply, options, secret)
  }
  const head = headOf(request)
  if (head !== undefined && routes.takesSockets) {
    await joinSockets(request, reply, { ...options, head })
    return reply
  }
  passAnswer(await askApp(request, reply, options), reply)
  return reply
}

/**
 * Asks middleware whether a request may go on that it cannot wrap: a WebSocket, or a typed call.
 * The app sees it without its body. Throws its refusal.
 */
async function check(request: FastifyRequest, reply: FastifyReply, options: AppRequestOptions,
  secret: string): Promise<undefined> {
  const answer = await askApp(request, reply, { ...options, hasNoBody: true,
    said: { ...options.said, [appHeaders.check]: '1' } })
  if (answer.headers[appHeaders.passed] === secret) {
    answer.resume()
    request.isOfApp = false
    return undefined
  }
  const { statusCode = 403 } = answer
  answer.destroy()
  const code = statusCode === 401 ? 'unauthenticated' : statusCode === 404
    ? 'not_found'
    : statusCode === 429
    ? 'limited'
    : statusCode >= 500
    ? 'unavailable'
    : 'forbidden'
  throw new HeddleError(code,
    `The app of this project refuses this, with the status ${statusCode}.`)
}

/** A request that comes back must be for a route that middleware may wrap, wherever it went. */
function requireWrapped(request: FastifyRequest): void {
  const { is404, method, routeOptions: { url } } = request
  if (is404 || method === 'OPTIONS' || isWrapped(url)) return
  throw new HeddleError('not_found', 'An app reaches only the routes of its deployment.')
}

/** A caller as code of the app sees it: as the login made it, or as the server knows it. */
function shownUser(caller: Caller): object {
  const { identity, role, user } = caller as Caller & { readonly user?: AppUser }
  if (user !== undefined) return user
  const name = userOf(caller) ?? (identity.kind === 'key' ? identity.id : undefined) ??
    identity.kind
  return { identity: name, permissions: [role], is_authenticated: identity.kind !== 'local',
    display_name: name }
}

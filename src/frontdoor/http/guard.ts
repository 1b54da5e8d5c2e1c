/**
 * The guard of the front door. Before anything is done for a request, its caller is authenticated,
 * charged to a limit, and authorised.
 *
 * Every route must declare its `access`, or the server does not start.
 */

import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'

import type { Access } from '../../api/index.ts'
import { assert } from '../../errors.ts'
import type { HeaderChoice } from '../../graph/index.ts'
import { requireAllowed, nobody } from './caller.ts'
import type { Caller, Finding } from './caller.ts'
import { bringsNothing } from './identify.ts'
import type { Identify } from './identify.ts'
import type { App } from './route.ts'
import { mayRunCall, ownRouteHeader, runMayNotCall } from './run-powers.ts'

/** Charges a request to its caller, and sets the headers of the limit. Throws `limited`. */
export type Limit = (request: FastifyRequest, finding: Finding,
  reply: FastifyReply) => Promise<void>

/**
 * Finds the caller as the routes have it: of a request to a deployment, in its namespace there,
 * after the deployment was charged. `isPublic` is true for a caller that was not asked who it is.
 * Throws `not_found` and `limited`.
 */
export type Place = (request: FastifyRequest, reply: FastifyReply,
  found: FoundCaller) => Promise<Caller>

/** A caller before its place is known. */
export interface FoundCaller {
  readonly caller: Caller
  readonly isPublic: boolean
  /** True for a request that an app answers; by default false. */
  readonly isOfApp?: boolean
  /** True if the deployment was charged before; by default false. */
  readonly isCharged?: boolean
}

/** A request that came before through an app, or that code of an app makes for it. */
export interface BeforeApp {
  /** The finding before the app; undefined if there is none that counts for this route. */
  readonly findingOf: (request: FastifyRequest) => Finding | undefined
  /** True if the place of the request was found, and charged, before the app. */
  readonly isPlaced: (request: FastifyRequest) => boolean
  /** Finds the caller of an app's own key; undefined if the request has no such key. */
  readonly identify: (request: FastifyRequest) => Promise<Finding> | undefined
}

/** Options for identifying and charging callers. Without `limit`, requests are not charged. */
export interface GuardOptions {
  readonly identify: Identify
  readonly limit?: Limit
  /** Finds what a request to a deployment may see; by default, there are no deployments. */
  readonly place?: Place
  /** Headers of a request that runs see, as the project says; by default it says nothing. */
  readonly graphHeadersOf?: (request: FastifyRequest) => HeaderChoice | undefined
  /** Access of routes that cannot declare it, by path; `/a/*` for all below `/a`. */
  readonly accessOf: ReadonlyMap<string, Access>
  /** Requests that apps handle; by default there are no apps. */
  readonly passed?: BeforeApp
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The finding of the guard; undefined before it. */
    finding: Finding | undefined
    /** True if the request was charged before the guard. */
    isCharged: boolean
  }
}

const anybody: Finding = { identity: nobody.identity, caller: nobody }

/** Adds the guard. Call before any route is added. */
export function addGuard(app: App,
  { identify, limit, place, graphHeadersOf, accessOf, passed }: GuardOptions): void {
  app.decorateRequest('caller')
  app.decorateRequest('finding')
  if (!app.hasRequestDecorator('isCharged')) app.decorateRequest('isCharged', false)
  app.decorateRequest('deployment')
  app.addHook('onRoute', (route) => {
    const access = route.config?.access ?? declared(route, accessOf)
    assert(access, `the route ${String(route.method)} ${route.url} says what it does`)
    route.config = { ...route.config, access }
  })
  app.addHook('onRequest', async (request, reply) => {
    // Only callers that may read learn whether a path exists.
    const { access = 'read' } = request.routeOptions.config ?? {}
    const isPublic = access === 'public' || request.method === 'OPTIONS'
    const found = isPublic
      ? anybody
      : passed?.findingOf(request) ?? await (passed?.identify(request) ?? identify(request))
    const isNobody = access === 'shown' && 'refused' in found && bringsNothing(request)
    const finding = isNobody ? anybody : found
    request.finding = finding
    if (!request.isCharged) await limit?.(request, finding, reply)
    if ('refused' in finding) throw finding.refused
    // What does not exist for a caller is not there, whatever its role.
    const caller = place === undefined
      ? finding.caller
      : await place(request, reply, { caller: finding.caller, isPublic,
        isCharged: passed?.isPlaced(request) })
    if (!isPublic) requireAllowed(caller, access)
    const { operation } = request.routeOptions.config ?? {}
    const isOfRun = caller.isRun || request.headers[ownRouteHeader] !== undefined
    if (!isPublic && isOfRun && operation && !mayRunCall(operation)) throw runMayNotCall()
    if (request.method === 'OPTIONS') void reply.code(204)
    const graphHeaders = graphHeadersOf?.(request)
    request.caller = graphHeaders === undefined ? caller : { ...caller, graphHeaders }
  })
}

function declared({ url }: RouteOptions, accessOf: GuardOptions['accessOf']): Access | undefined {
  const below = [...accessOf].find(([path]) =>
    path.endsWith('/*') &&
    (url === path.slice(0, -2) || url.startsWith(path.slice(0, -1)))
  )
  return accessOf.get(url) ?? below?.[1]
}

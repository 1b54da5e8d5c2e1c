/** Requests to deployments: found by path or host name, and placed in a namespace of their own. */

import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'

import type { FastifyRequest } from 'fastify'

import { isDeploymentName, namespaceOf } from '../../deployment/index.ts'
import type { Deployment } from '../../deployment/index.ts'
import { HeddleError } from '../../errors.ts'
import type { CalledDeployment, Caller } from '../http/caller.ts'
import type { Place } from '../http/guard.ts'
import type { App } from '../http/route.ts'
import { bodyBytesMaxOf, countBodies, requireShortBody } from './body-limit.ts'
import { createsRun, isDataRoute, needsNoRevision } from './data-routes.ts'
import { requireEnabled } from './disabled-routes.ts'
import { hostNames, hostReader } from './host-names.ts'
import type { HostReader } from './host-names.ts'
import type { MountParts } from './mount-parts.ts'
import { knownView, liveDeployment } from './live-deployment.ts'
import { belowMount, ownTarget, routed } from './mount-prefix.ts'
import { deploymentHttp } from './project-http.ts'
import { deploymentTarget } from './target.ts'
import type { DeploymentTarget } from './target.ts'

/** The place of requests, and their targets as the router has them. */
export interface Mounts {
  /** The target without the prefix of a deployment. */
  rewrite(request: Raw): string
  /** Notes which deployment each request calls. Call before the guard is added. */
  addTo(app: App): void
  readonly place: Place
}

type Raw = IncomingMessage | Http2ServerRequest

/** Members of a called deployment before it is found: no graphs, no bound, no charge. */
const notFound = { graphs: () => [], bodyBytesMax: Infinity, charge: async () => {} }

/** Asks for a revision by name, whether it is active or not. */
const revisionHeader = 'x-heddle-revision'

/** Makes the mounts of a front door. */
export function mountsOver(parts: MountParts): Mounts {
  const targets = new WeakMap<Raw, DeploymentTarget>()
  const hostOf = hostReader(parts.isFromProxy)
  const nameByHost = hostNames(parts, hostOf)
  const httpOf = (name: string) => deploymentHttp(parts.serving, name)
  const calledBy = (request: FastifyRequest): CalledDeployment | undefined => {
    const target = targets.get(request.raw)
    const byHost = nameByHost(request)
    // The host of a deployment has no other ones below it: with both, nothing is found.
    if (target !== undefined) {
      const name = byHost === undefined ? target.name : ''
      return { ...notFound, name, prefix: target.prefix }
    }
    return byHost === undefined ? undefined : { ...notFound, name: byHost, prefix: '' }
  }
  return {
    rewrite: (raw) => {
      const target = deploymentTarget(raw.url ?? '/')
      if (target === undefined) {
        const byHost = nameByHost(raw)
        return ownTarget(raw, byHost === undefined ? parts.own?.() : httpOf(byHost))
      }
      targets.set(raw, target)
      return routed(raw, belowMount(target, httpOf(target.name)))
    },
    addTo: (app) => {
      app.addHook('onRequest', (request, _reply, done) => {
        request.deployment = calledBy(request)
        done()
      })
      countBodies(app)
    },
    place: (...asked) => placed({ ...parts, hostOf }, ...asked),
  }
}

async function placed(parts: MountParts & { readonly hostOf: HostReader },
  ...[request, reply, found]: Parameters<Place>): Promise<Caller> {
  const { caller, isPublic, isOfApp = false, isCharged = false } = found
  const { serving, requested, charge, servedHosts, hostOf } = parts
  const { deployment: called, method, routeOptions: { url: pattern } } = request
  if (called === undefined) {
    requireUnbound(request, caller, isPublic)
    if (caller.identity.kind !== 'nobody') {
      servedHosts?.note(hostOf(request), caller.tenant)
    }
    return caller
  }
  if (method === 'OPTIONS') return caller
  const deployment = await deploymentNamed(serving, called.name)
  const isNobody = isPublic || caller.identity.kind === 'nobody'
  if (!isNobody && !mayCall(caller, deployment)) throw noDeployment(called.name)
  if (!isOfApp && !isDataRoute(pattern)) throw noRoute()
  const tenant = isNobody ? deployment.tenant : caller.tenant
  const namespace = namespaceOf({ tenant, deployment: deployment.name })
  const charged = async (deployment: Deployment) =>
    await charge?.(request, reply, { caller, deployment, isOpen: isNobody })
  const bodyBytesMax = bodyBytesMaxOf(deployment)
  requireShortBody(request, bodyBytesMax)
  // A caller that is not asked who it is must not use up what others may send.
  if (!isNobody) {
    if (!isCharged) await charged(deployment)
    await requested?.(deployment, tenant)
  } else if (isOfApp) await charged(deployment)
  const { settings } = await knownView(serving, namespace)
  requireEnabled(pattern, settings?.disabled_routes)
  request.deployment = { ...called, bodyBytesMax, graphs: () => graphsOf(serving, namespace),
    charge: async () => await charged(await deploymentNamed(serving, called.name)) }
  if (isNobody) return caller
  const asksFor = request.headers[revisionHeader] !== undefined
  // Others take what is active: the rest may not be meant for anybody yet.
  if (asksFor && (caller.tenant !== deployment.tenant || caller.login !== undefined)) {
    throw new HeddleError('forbidden', 'Only the owner of a deployment may ask for a revision.')
  }
  const needsRevision = isOfApp || !needsNoRevision(pattern!)
  if (needsRevision && !asksFor) requireActive(deployment)
  const mayStartRun = async (now: Deployment) => {
    requireTakesRuns(now)
    if (!asksFor) await serving.requireServes?.(now.name)
  }
  if (!isOfApp && createsRun(method, pattern!)) await mayStartRun(deployment)
  return { ...caller, tenant: namespace,
    mayStartRun: async () => await mayStartRun(await deploymentNamed(serving, called.name)) }
}

async function deploymentNamed(serving: MountParts['serving'], name: string): Promise<Deployment> {
  const deployment = await liveDeployment(serving, name)
  if (deployment === undefined) throw noDeployment(isDeploymentName(name) ? name : undefined)
  return deployment
}

/** A deployment that is not for a caller does not exist for that caller. */
function mayCall({ tenant, deployment }: Caller,
  { name, access, tenant: owner }: Deployment): boolean {
  return (access === 'any' || tenant === owner) && (deployment ?? name) === name
}

function requireActive({ name, active }: Deployment): void {
  if (active !== null) return
  throw new HeddleError('not_ready', `Nothing of the deployment ${name} is active yet: type ` +
    `"heddle deploy ${name}" in the folder of its project.`)
}

function requireTakesRuns({ name, paused }: Deployment): void {
  if (!paused) return
  throw new HeddleError('not_ready', `The deployment ${name} is paused and takes no new runs: ` +
    `type "heddle deployments set ${name} paused=no".`)
}

/** A key of one deployment reaches its data, and its control. Throws `forbidden`. */
function requireUnbound({ routeOptions, params }: FastifyRequest, { deployment }: Caller,
  isPublic: boolean): void {
  if (deployment == null || isPublic || routeOptions.config?.access === 'self') return
  const { deployment: named } = (params ?? {}) as { readonly deployment?: string }
  if (routeOptions.config?.access === 'deploy') {
    if (named === deployment) return
    if (named !== undefined) throw noDeployment(isDeploymentName(named) ? named : undefined)
    if (routeOptions.method === 'GET') return
  }
  throw new HeddleError('forbidden',
    `This API key is only for the deployment ${deployment}: call ` +
      `it below /d/${deployment}.`)
}

function graphsOf(serving: MountParts['serving'], namespace: string) {
  const view = serving.view(namespace)
  return view?.active == null ? [] : view.revisions.get(view.active) ?? []
}

function noDeployment(name?: string): HeddleError {
  return new HeddleError('not_found', name === undefined
    ? 'There is no such deployment.'
    : `There is no deployment ${name}.`)
}

function noRoute(): HeddleError {
  return new HeddleError('not_found', 'A deployment has no such address: call the server itself.')
}

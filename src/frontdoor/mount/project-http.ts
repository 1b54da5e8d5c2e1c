/** The settings below `http` of the project that a request calls: the server's own, or another. */

import type { FastifyRequest } from 'fastify'

import { isDeploymentName, namespaceOf } from '../../deployment/index.ts'
import type { HttpSettings } from '../../graph/index.ts'
import type { App } from '../http/route.ts'
import { isDataRoute } from './data-routes.ts'
import type { MountParts } from './mount-parts.ts'

/** Sources of settings: of the own project, and of deployments. */
export interface ProjectHttpParts {
  readonly own?: (() => HttpSettings | undefined) | undefined
  readonly serving?: Pick<MountParts['serving'], 'view'> | undefined
}

const none: HttpSettings = {}

/** Gives each request the settings of the project that it calls, as they are at each use. */
export function addProjectHttp(app: App, { own, serving }: ProjectHttpParts): void {
  app.decorateRequest('projectHttp', { getter(this: FastifyRequest) {
    const { deployment } = this
    if (deployment === undefined) return own?.() ?? none
    return serving && deploymentHttp(serving, deployment.name) || none
  } })
}

/** The settings of a deployment, of its active revision; undefined for one that is not known. */
export function deploymentHttp(serving: Pick<MountParts['serving'], 'view'>, name: string):
  | HttpSettings
  | undefined {
  if (!isDeploymentName(name)) return undefined
  // They are the same for all of its tenants.
  return serving.view(namespaceOf({ tenant: 'any', deployment: name }))?.settings?.http
}

/**
 * True if the settings of the project hold for a request: for its data, and for paths without a
 * route of ours. A page that the project lets in may not call what is for operators.
 */
export function isOfProject(
  { method, routeOptions: { url } }: Pick<FastifyRequest, 'method' | 'routeOptions'>,
): boolean {
  if (url === undefined || url === '*' || url === '/*' || method === 'OPTIONS') return true
  return isDataRoute(url) && !url.startsWith('/api/')
}

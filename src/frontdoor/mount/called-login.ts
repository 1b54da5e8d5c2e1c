/** Finds the login of the project that a request calls: of the server's own, or of a deployment. */

import { namespaceOf } from '../../deployment/index.ts'
import { loginOf } from '../authorise/index.ts'
import { graphHosts } from '../../graph/index.ts'
import type { AuthSettings, DeployedGraphs, GraphHost } from '../../graph/index.ts'
import type { CalledLogin, LoginOf } from '../login/index.ts'
import { knownView, liveDeployment } from './live-deployment.ts'
import type { MountParts } from './mount-parts.ts'

/** Projects whose logins are asked. */
export interface CalledLoginParts {
  /** The server's own project. */
  readonly graphs: GraphHost
  readonly deployed?: DeployedGraphs | undefined
  readonly serving?: MountParts['serving'] | undefined
  /** Settings of the login that the server's own project names; by default it names none. */
  readonly projectAuth?: (() => AuthSettings | undefined) | undefined
  /** The tenant whose data users of the server's own project see. */
  readonly ownTenant: string
}

/**
 * Makes the function that finds a login. A project that names a login has one, also while it cannot
 * be asked: its data is open to nobody then.
 */
export function calledLogins(parts: CalledLoginParts): LoginOf {
  const { graphs, projectAuth, ownTenant, deployed, serving } = parts
  const hosts = graphHosts(graphs, deployed)
  return (request) => {
    const { deployment } = request
    if (deployment !== undefined) return serving && ofDeployment(serving, hosts, deployment.name)
    const settings = projectAuth?.()
    if (settings === undefined) return undefined
    const login = graphs.app?.()?.login
    const isCurrent = () => projectAuth?.() === settings
    return { settings, login, tenant: ownTenant, isKnown: true, isCurrent }
  }
}

async function ofDeployment(serving: MountParts['serving'], hosts: ReturnType<typeof graphHosts>,
  name: string): Promise<CalledLogin | undefined> {
  const deployment = await liveDeployment(serving, name)
  if (deployment === undefined) return undefined
  const { tenant, access } = deployment
  const namespace = namespaceOf({ tenant, deployment: name })
  const { active: revision, settings } = await knownView(serving, namespace)
  if (settings?.auth === undefined) return undefined
  const login = await loginOf(hosts.of(namespace))
  return { settings: settings.auth, login, tenant, isKnown: access === 'any',
    isCurrent: () => serving.view(namespace)?.active === revision }
}

/** Finds the app of the project that a request calls: the server's own, or a deployment. */

import { namespaceOf } from '../../deployment/index.ts'
import { graphHosts } from '../../graph/index.ts'
import type { OpenedApp } from '../../graph/index.ts'
import type { FrontDoorOptions } from '../front-door-options.ts'
import { whenClosed } from '../http/ending.ts'
import { knownView, liveDeployment } from '../mount/index.ts'
import type { FindApp } from './app-gate.ts'

/** Makes the finder. */
export function appFinder(
  { graphs, deployed, deployments }: Pick<FrontDoorOptions, 'graphs' | 'deployed' | 'deployments'>,
): FindApp {
  const hosts = graphHosts(graphs, deployed)
  const opened = async (name: string, left: AbortSignal): Promise<OpenedApp | undefined> => {
    if (deployments === undefined) return undefined
    const { serving } = deployments
    const found = await liveDeployment(serving, name)
    if (found === undefined) return undefined
    const namespace = namespaceOf({ tenant: found.tenant, deployment: name })
    const { settings: { auth, http } = {} } = await knownView(serving, namespace)
    // Nothing is loaded for projects that bring neither.
    return auth ?? http?.app ? await hosts.of(namespace).openApp?.(left) : undefined
  }
  return async (request, { raw }) => {
    const { deployment, projectHttp: settings } = request
    if (deployment === undefined) {
      const routes = graphs.app?.()?.routes
      return routes && { routes, settings }
    }
    const left = new AbortController()
    whenClosed(raw, () => left.abort())
    const loaded = await opened(deployment.name, left.signal)
    if (loaded === undefined) return undefined
    whenClosed(raw, loaded.leave)
    return loaded.app?.routes && { routes: loaded.app.routes, settings }
  }
}

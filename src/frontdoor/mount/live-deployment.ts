/** Finds a deployment by the name that a request has for it. */

import { isDeploymentName } from '../../deployment/index.ts'
import type { Deployment } from '../../deployment/index.ts'
import { HeddleError, ignoreNotFound } from '../../errors.ts'
import type { DeploymentView } from '../../graph/index.ts'
import type { MountParts } from './mount-parts.ts'

/** Undefined for one that is not there, or is being removed. */
export async function liveDeployment(serving: Pick<MountParts['serving'], 'find'>,
  name: string): Promise<Deployment | undefined> {
  if (!isDeploymentName(name)) return undefined
  const deployment = await serving.find(name).catch(ignoreNotFound)
  return deployment?.removing ? undefined : deployment
}

/**
 * Resolves with the view of a deployment, and its settings. Throws `unavailable` if this member has
 * none, for example while the deployment is removed. Readers would otherwise take it for a
 * deployment without a login, an app and disabled routes.
 */
export async function knownView(serving: Pick<MountParts['serving'], 'open' | 'view'>,
  namespace: string): Promise<DeploymentView> {
  await serving.open(namespace)
  const view = serving.view(namespace)
  if (view !== undefined && !view.lacksSettings) return view
  throw new HeddleError('unavailable', 'This deployment is not known right now: it is being ' +
    'changed or removed.')
}

/** Finds a deployment by the name that a request has for it. */

import { isDeploymentName } from '../../deployment/index.ts'
import type { Deployment } from '../../deployment/index.ts'
import { ignoreNotFound } from '../../errors.ts'
import type { MountParts } from './mount-parts.ts'

/** Undefined for one that is not there, or is being removed. */
export async function liveDeployment(serving: Pick<MountParts['serving'], 'find'>,
  name: string): Promise<Deployment | undefined> {
  if (!isDeploymentName(name)) return undefined
  const deployment = await serving.find(name).catch(ignoreNotFound)
  return deployment?.removing ? undefined : deployment
}

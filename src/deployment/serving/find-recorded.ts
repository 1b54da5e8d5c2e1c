/** Finds the deployment whose recordings a namespace has. */

import { ignoreNotFound } from '../../errors.ts'
import type { Deployment } from '../deployment.ts'
import { namespaceParts } from '../namespace.ts'
import type { Serving } from './serving.ts'

/**
 * Returns the deployment of a namespace; `undefined` for the server's own project and for a
 * deployment that was removed.
 */
export async function findRecorded(serving: Pick<Serving, 'find'>,
  namespace: string): Promise<Pick<Deployment, 'id' | 'createdAtMs'> | undefined> {
  const { deployment: name } = namespaceParts(namespace)
  const found = name === null ? undefined : await serving.find(name).catch(ignoreNotFound)
  return found && { id: found.id, createdAtMs: found.createdAtMs }
}

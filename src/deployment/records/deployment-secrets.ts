/** The secrets of deployments: kept as those of a workspace that nobody has. */

import { HeddleError } from '../../errors.ts'
import type { OpenSecrets } from '../../platform/index.ts'
import type { DeploymentSecrets } from '../deployments.ts'
import { deploymentsTenant } from '../namespace.ts'

/** Characters of a name. */
const nameMax = 100
/** Characters of a value, and bytes of its UTF-8. */
const valueMax = 64 * 1024

/** Secrets of deployments over those of the platform. */
export function deploymentSecretsOver(
  secrets: Pick<OpenSecrets, 'details' | 'replace' | 'delete' | 'revealAll' | 'unopened' | 'drop'>,
): DeploymentSecrets {
  return {
    list: (deployment) => secrets.details(tenantOf(deployment)),
    set: async (deployment, name, value) => {
      requireModest(name, value)
      return await secrets.replace(tenantOf(deployment), { name, value, charactersMax: valueMax })
    },
    delete: (deployment, name) => secrets.delete(tenantOf(deployment), name),
    reveal: async (deployment) => Object.fromEntries(await secrets.revealAll(tenantOf(deployment))),
    unopened: (deployment) => secrets.unopened(tenantOf(deployment)),
    drop: (deployment) => secrets.drop(tenantOf(deployment)),
  }
}

function tenantOf(deployment: string): string {
  return `${deploymentsTenant}${deployment}`
}

function requireModest(name: string, value: string): void {
  if (name.length > nameMax) {
    throw new HeddleError('invalid', `name: it has at most ${nameMax} characters.`)
  }
  // No variable of a process can have it.
  if (value.includes('\0')) throw new HeddleError('invalid', 'value: it must not have a NUL.')
  if (Buffer.byteLength(value) > valueMax) {
    throw new HeddleError('invalid', `value: it has at most ${valueMax} bytes.`)
  }
}

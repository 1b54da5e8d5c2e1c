/** Records of deployments, their secrets, and the notes of their changes, as a member has them. */

import { DeploymentUpdates, deploymentSecretsOver, deploymentsOver,
  deploymentUse } from '../../deployment/index.ts'
import { catalogClient, secretsOver } from '../../platform/index.ts'
import { namesOf } from '../../settings/index.ts'
import { namedUsers } from '../graphs-users/named-users.ts'
import type { MemberDeploymentParts } from './member-parts.ts'
import { posingAddresses } from './posing-proxies.ts'

/** The records, and the clients of what is kept beside them. */
export type DeploymentRecords = ReturnType<typeof deploymentRecords>

/** Makes the records of a member. Nothing is read yet. */
export function deploymentRecords({ settings, env, router, platform, secretsKeys }: Pick<
  MemberDeploymentParts,
  'settings' | 'env' | 'router' | 'platform' | 'secretsKeys'
>) {
  const catalogs = catalogClient(router)
  const { documents } = platform
  const secrets = deploymentSecretsOver(secretsOver(catalogs, secretsKeys, env), env)
  const updates = new DeploymentUpdates(env)
  const noted = (id: string) => updates.add(id)
  const owners = settings.trustTenants || namedUsers(settings) !== undefined ? 'any' : 'one'
  const posing = settings.trustTenants ? [] : posingAddresses(settings)
  if (posing.length > 0) {
    env.log.warn('No deployment can be created: its code could call as every user, because ' +
      `${namesOf('userProxies')} includes addresses of this machine.`, { addresses: posing })
  }
  const records = deploymentsOver({ catalogs, documents, secrets, env, noted,
    limits: { owners, posing } })
  return { catalogs, documents, secrets, updates, noted, records,
    used: deploymentUse({ catalogs, env }) }
}

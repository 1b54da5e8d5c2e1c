/** The variables of the code of a deployment's active revision. */

import { loadedSecretsOf, namespaceParts, secretsOf } from '../../deployment/index.ts'
import { ignoreNotFound } from '../../errors.ts'
import type { DeploymentRecords } from './deployment-records.ts'
import type { LaterServing } from './later-serving.ts'

/** Own variables of the active revision, and its secrets; none without an active revision. */
export async function activeVariables(namespace: string, { serving }: LaterServing,
  { records, secrets }: DeploymentRecords): Promise<Readonly<Record<string, string>>> {
  const deployment = await serving.find(namespaceParts(namespace).deployment ?? '')
  const { active, preview, tenant } = deployment
  if (active === null) return {}
  const { env: own } = await records.manifest(await records.revision(deployment, active))
  const original = preview && await serving.find(preview.of).catch(ignoreNotFound)
  return { ...own,
    ...await secretsOf(secrets, { deployment,
      original: original?.tenant === tenant ? original : undefined,
      set: loadedSecretsOf(deployment) }) }
}

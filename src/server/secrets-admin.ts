/** Administration of all stored secrets, for operators: counts them, and seals them anew. */

import type { Service } from '../../cluster/index.ts'
import type { KeyTable } from '../access/index.ts'
import { memberOf, rawValues } from '../json/index.ts'
import { surveySecrets } from '../platform/index.ts'
import type { SecretsSurvey } from '../platform/index.ts'

/** Counts the secrets; with `rekey`, seals those with an older key anew. Values stay inside. */
export interface SecretsAdmin {
  survey(options: { readonly rekey: boolean }): Promise<SecretsSurvey>
}

/** Stores of secrets, and of the keys that name their tenants. */
export interface SecretsAdminParts {
  readonly secrets: Parameters<typeof surveySecrets>[0]
  readonly keys: Pick<KeyTable, 'list'>
}

/** The tenant of servers without authentication. */
const lone = 'local'

/** The service and its wire. */
export const secretsWire = { name: 'secrets', wire: { values: rawValues } } as const

/** Administration of the secrets of tenants with keys, and of a server without authentication. */
export function secretsAdmin({ secrets, keys }: SecretsAdminParts): SecretsAdmin {
  return {
    survey: async ({ rekey }) => {
      const tenants = [lone, ...(await keys.list()).map(({ tenant }) => tenant)]
      return await surveySecrets(secrets, { rekey, tenants })
    },
  }
}

/** The administration as a service for operators of a cluster, who ask a member. */
export function secretsService(admin: SecretsAdmin): Service<unknown, SecretsSurvey> {
  return {
    ...secretsWire,
    answer: (question) => admin.survey({ rekey: memberOf(question, 'rekey') === true }),
  }
}

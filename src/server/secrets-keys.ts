/** Which keys seal the secrets of a server. */

import { join } from 'node:path'

import type { Env } from '../../cluster/index.ts'
import { ownSecretsKeys, readSecretsKeys } from '../platform/index.ts'
import type { SecretsKeys } from '../platform/index.ts'
import type { Settings } from '../settings/index.ts'

/** The file of a data directory that has the key of its secrets. */
const fileName = 'secrets.key'

/**
 * The keys of the file that `--secrets-key` names. Without it, a data directory has a key of its
 * own; members that share a cluster have none, and store no secrets.
 */
export function secretsKeysOf(
  { secretsKey, cassandra, dataDirectory }: Pick<Settings,
    'secretsKey' | 'cassandra' | 'dataDirectory'>,
  env: Pick<Env, 'secret'>,
): SecretsKeys | undefined {
  if (secretsKey !== null) return readSecretsKeys(secretsKey)
  if (cassandra !== null) return undefined
  return ownSecretsKeys(join(dataDirectory, fileName), () => Buffer.from(env.secret(), 'base64url'))
}

/** Finds the keys that seal the secrets of a server. */

import { join } from 'node:path'

import type { Env } from '../../cluster/index.ts'
import { ownSecretsKeys, readSecretsKeys } from '../platform/index.ts'
import type { SecretsKeys } from '../platform/index.ts'
import type { Settings } from '../settings/index.ts'

type KeySettings = Pick<Settings, 'secretsKey' | 'cassandra' | 'dataDirectory'>

/** The file of a data directory that has the key of its secrets. */
const fileName = 'secrets.key'

/** The file that has the keys of secrets, or will have them; undefined if there is none. */
export function secretsKeyFile(
  { secretsKey, cassandra, dataDirectory }: KeySettings,
): string | undefined {
  return secretsKey ?? (cassandra === null ? join(dataDirectory, fileName) : undefined)
}

/**
 * The keys of the file that `--secrets-key` names. Without it, a data directory has a key of its
 * own; members that share a cluster have none, and store no secrets.
 */
export function secretsKeysOf(settings: KeySettings, env: Pick<Env, 'secret'>):
  | SecretsKeys
  | undefined {
  const file = secretsKeyFile(settings)
  if (file === undefined) return undefined
  return settings.secretsKey === null
    ? ownSecretsKeys(file, () => Buffer.from(env.secret(), 'base64url'))
    : readSecretsKeys(file)
}

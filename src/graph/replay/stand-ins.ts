/** The variables of a process that replays: it holds no secret. Pure. */

import { isSecretName } from '../logs/secret-values.ts'

/** Shorter values are words, which recordings show. */
const shortest = 8

/**
 * The variables, with a star for each byte of a secret, as recordings have them.
 * `secretNames`: those of the deployment.
 */
export function standIns(variables: Readonly<Record<string, string>>,
  secretNames: readonly string[]): Readonly<Record<string, string>> {
  const isSecret = (name: string, value: string) =>
    isSecretName(name) || (secretNames.includes(name) && value.length >= shortest)
  return Object.fromEntries(Object.entries(variables).map((
    [name, value],
  ) => [name, isSecret(name, value) ? '*'.repeat(Buffer.byteLength(value)) : value]))
}

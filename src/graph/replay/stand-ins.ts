/** The variables of a process that replays: it holds no secret. Pure. */

import { isSecretName } from '../logs/secret-values.ts'

/** The variables, with stars of the same length in place of secrets, as recordings have them. */
export function standIns(
  variables: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(variables).map((
    [name, value],
  ) => [name, isSecretName(name) ? '*'.repeat(value.length) : value]))
}

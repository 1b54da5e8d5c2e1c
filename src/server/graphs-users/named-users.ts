/** The users that an operator has named for the code of deployments. Pure. */

import type { Settings, UserRange } from '../../settings/index.ts'

/** Returns the named users, or undefined without names. */
export function namedUsers(
  { graphsUsers }: Pick<Settings, 'graphsUsers'>,
): UserRange | undefined {
  return graphsUsers === 'off' ? undefined : graphsUsers
}

/** The user that `authenticate` of a project returned, checked and bounded. Pure. */

import type { AppUser } from '../../graph/index.ts'
import { isObject } from '../../json/index.ts'

/** Characters of an identity, and of all fields of a user as JSON: they are kept with each run. */
const [identityMax, userMax] = [1_024, 64 * 1024]

/** Checks a user. Throws an error with the reason for one that no run can go as. */
export function readUser(user: unknown): AppUser {
  if (!isObject(user)) throw new TypeError('A user must be an object')
  const { identity, permissions = [], display_name: name } = user
  if (typeof identity !== 'string' || identity === '') {
    throw new TypeError('A user must have an identity, which is a text')
  }
  if (identity.length > identityMax) {
    throw new TypeError(`An identity has ${identityMax} characters at most`)
  }
  if (!Array.isArray(permissions) || !permissions.every((each) => typeof each === 'string')) {
    throw new TypeError('permissions must be a list of texts')
  }
  const read: AppUser = { ...user, identity, permissions: permissions as string[],
    is_authenticated: user['is_authenticated'] !== false,
    display_name: typeof name === 'string' ? name : identity }
  if (JSON.stringify(read).length > userMax) {
    throw new TypeError(`A user has ${userMax / 1024} KB of JSON at most`)
  }
  return read
}

/** The user of a page for developers, which only a server of one machine knows. */
export const studioUser: AppUser = { identity: 'langgraph-studio-user', kind: 'StudioUser',
  display_name: 'langgraph-studio-user', permissions: [], is_authenticated: true }

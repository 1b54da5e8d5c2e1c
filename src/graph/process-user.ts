/** The user of the operating system that a process is started as. */

/** Options of a process: its user and the group of the same id, and no other groups. */
export interface ProcessUser {
  readonly uid?: number
  readonly gid?: number
}

/**
 * Runs a process as a user, or with undefined as that of this process. Node takes away all other
 * groups where it changes the user, and Linux takes away the rights of root.
 */
export function asUser(user: number | undefined): ProcessUser {
  return user === undefined ? {} : { uid: user, gid: user }
}

/** A caller, and the login of its project, which decides what is allowed. */

import type { AppUser, ProjectLogin } from '../../graph/index.ts'

/**
 * A caller as operations see it. Without `login`, nobody is asked: it may do everything with the
 * data of its tenant that its role allows.
 */
export interface Asking {
  readonly tenant: string
  /** The caller as the login of the project made it. */
  readonly user?: AppUser | undefined
  /** The login that is asked before something is done for `user`. */
  readonly login?: ProjectLogin | undefined
}

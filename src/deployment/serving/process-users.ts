/** Which user of the operating system the processes of a deployment run as. Pure. */

import { HeddleError } from '../../errors.ts'
import { namesOf } from '../../settings/index.ts'
import type { UserRange } from '../../settings/index.ts'

/** The user of a deployment. */
export interface AssignedUser {
  readonly user: number
  /** True if another deployment may have had it until now. */
  readonly isNew: boolean
}

interface Owner {
  readonly user: number
  processes: number
}

/**
 * Gives each deployment a user that no other one has meanwhile. It keeps it without processes, too,
 * until all others of the range have owners: then it is given to who comes next.
 */
export class ProcessUsers {
  readonly #range: UserRange
  /** By the id of the deployment: those whose last process was begun first come first. */
  readonly #owners: Map<string, Owner>

  /** `owners` had a user when this process started, by their ids. */
  constructor(range: UserRange, owners: ReadonlyMap<string, number> = new Map()) {
    this.#range = range
    this.#owners = new Map([...owners].map(([id, user]) => [id, { user, processes: 0 }]))
  }

  /** Counts a process of a deployment. Throws `full` if all users have processes of others. */
  enter(id: string): AssignedUser {
    const known = this.#owners.get(id)
    const owner = known ?? { user: this.#free(), processes: 0 }
    owner.processes++
    this.#owners.delete(id)
    this.#owners.set(id, owner)
    return { user: owner.user, isNew: known === undefined }
  }

  /** A process that was counted has ended. */
  leave(id: string): void {
    const owner = this.#owners.get(id)
    if (owner) owner.processes--
  }

  /** Takes the user of a deployment away, which was to be its own and could not be. */
  forget(id: string): void {
    this.#owners.delete(id)
  }

  /** One without an owner, or else of a deployment that has no process. */
  #free(): number {
    const taken = new Set([...this.#owners.values()].map(({ user }) => user))
    const { first, last } = this.#range
    for (let user = first; user <= last; user++) if (!taken.has(user)) return user
    const idle = [...this.#owners].find(([, { processes }]) => processes === 0)
    if (idle === undefined) {
      throw new HeddleError('full', `All ${last - first + 1} users of ${namesOf('graphsUsers')} ` +
        'have processes of other deployments here: name more of them.')
    }
    const [id, { user }] = idle
    this.#owners.delete(id)
    return user
  }
}

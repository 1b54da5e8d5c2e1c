/** Choice of the operating system's user for the processes of a deployment. Pure. */

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
 * Gives each deployment a user that no other one has at that time. A deployment keeps it without
 * processes, too, until all other users of the range have owners. The next deployment then gets it.
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

  /** Takes back a user that could not be prepared for its deployment. */
  forget(id: string): void {
    this.#owners.delete(id)
  }

  /** A user without an owner, or else that of a deployment without processes. */
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

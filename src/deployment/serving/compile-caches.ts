/** Folders of compiled code, one for each deployment that this member has executed. */

import { chmod, chown, lstat, mkdir, readdir, rm, rmdir } from 'node:fs/promises'
import { join } from 'node:path'

import { limitConcurrency } from '../../../cluster/index.ts'
import type { UserRange } from '../../settings/index.ts'
import type { AssignedUser } from './process-users.ts'
import { ProcessUsers } from './process-users.ts'
import { doAs } from './user-work.ts'

/** Folder and users of the compile caches. */
export interface CompileCachesOptions {
  /** It is made when it is needed. */
  readonly directory: string
  /**
   * Finds the users that own the folders when the first folder is needed; missing for the user of
   * this process.
   */
  readonly users?: (() => Promise<UserRange | undefined>) | undefined
  /** Called when all users have processes: one of these may be idle. */
  readonly lacksUser: () => void
}

/** The folder of a deployment, and the user that may write there, while it has a process. */
export interface HeldCompileCache {
  readonly folder: string
  /** Undefined for that of this process. */
  readonly user: number | undefined
  /** Call when the process has ended. Calls after the first do nothing. */
  release(): void
}

/** Mode of the parent folder: a process enters only the folders whose names it knows. */
const passable = 0o711
const closed = 0o700

/**
 * Each deployment has a folder of its own, because what its code writes there is executed at the
 * next start. The owner of the folder tells after a restart which user the deployment has.
 */
export class CompileCaches {
  readonly #options: CompileCachesOptions
  /** One change of the folders after another. */
  readonly #alone = limitConcurrency(1)
  #users: ProcessUsers | undefined

  constructor(options: CompileCachesOptions) {
    this.#options = options
  }

  /** Makes the folder of a deployment. Throws `full` if there is no user for it. */
  hold(id: string): Promise<HeldCompileCache> {
    return this.#alone(async () => {
      const { directory } = this.#options
      const users = await this.#options.users?.()
      if (users === undefined) return await this.#makeOwn(id)
      await mkdir(directory, { recursive: true })
      await chmod(directory, passable)
      this.#users ??= new ProcessUsers(users, await this.#owners(users))
      return await this.#enter(this.#users, id)
    })
  }

  /** Makes a folder of the user of this process. */
  async #makeOwn(id: string): Promise<HeldCompileCache> {
    const folder = this.#pathOf(id)
    const owner = await ownerOf(folder)
    // An earlier start may have had users.
    if (owner !== process.getuid?.() && process.getuid?.() === 0) await this.#remove(id)
    await mkdir(folder, { recursive: true })
    return { folder, user: undefined, release: () => {} }
  }

  /** Removes the folders of all other deployments. */
  keep(ids: ReadonlySet<string>): Promise<void> {
    return this.#alone(async () => {
      const found = await readdir(this.#options.directory).catch(() => [])
      for (const id of found) if (!ids.has(id)) await this.#remove(id)
    })
  }

  async #enter(users: ProcessUsers, id: string): Promise<HeldCompileCache> {
    const { user, isNew } = this.#userOf(users, id)
    try {
      if (isNew) await this.#clear(user)
      await this.#make(id, user)
    } catch (error) {
      users.leave(id)
      if (isNew) users.forget(id)
      throw error
    }
    let isHeld = true
    return { folder: this.#pathOf(id), user, release: () => {
      if (isHeld) users.leave(id)
      isHeld = false
    } }
  }

  #userOf(users: ProcessUsers, id: string): AssignedUser {
    try {
      return users.enter(id)
    } catch (error) {
      this.#options.lacksUser()
      throw error
    }
  }

  /**
   * Ends processes and removes folders of a user, because the next deployment could be read and
   * changed by what another one has left.
   */
  async #clear(user: number): Promise<void> {
    await doAs(user, ['end'])
    const owners = await this.#owners({ first: user, last: user })
    for (const id of owners.keys()) await this.#remove(id)
  }

  async #make(id: string, user: number): Promise<void> {
    const folder = this.#pathOf(id)
    const owner = await ownerOf(folder)
    if (owner === user) return
    // Code that another user has compiled is never executed.
    await this.#remove(id)
    await mkdir(folder, { mode: closed })
    await chown(folder, user, user)
  }

  async #remove(id: string): Promise<void> {
    const folder = this.#pathOf(id)
    const owner = await ownerOf(folder)
    if (owner === undefined) return
    if (owner === process.getuid?.()) return await rm(folder, { recursive: true, force: true })
    await doAs(owner, ['empty', folder])
    await rmdir(folder)
  }

  /** The deployments whose folders belong to one of these users. */
  async #owners({ first, last }: UserRange): Promise<ReadonlyMap<string, number>> {
    const owners = new Map<string, number>()
    for (const id of await readdir(this.#options.directory)) {
      const owner = await ownerOf(this.#pathOf(id))
      if (owner !== undefined && owner >= first && owner <= last) owners.set(id, owner)
    }
    return owners
  }

  #pathOf(id: string): string {
    return join(this.#options.directory, id)
  }
}

/** User that owns a folder; undefined if the folder does not exist. */
async function ownerOf(folder: string): Promise<number | undefined> {
  return await lstat(folder).then(({ uid }) => uid, () => undefined)
}

/**
 * Locks of blocks of ids among the servers of a machine. They are in a folder that only root can
 * write, because any user could take a lock elsewhere, and so leave no block for a server.
 */

import { lstatSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { HeddleError } from '../../errors.ts'
import { memberOf } from '../../json/index.ts'
import { lockDirectory } from '../../store/embedded/index.ts'

const machineFolder = '/run/heddle-graphs-users'

/** The locks of this process, which the system releases at its end. */
const held: unknown[] = []

/**
 * Returns a function that locks a block for the life of this process, and returns false if another
 * server has it. Throws if others than root can write to the folder, or if there can be none.
 */
export function blockLocks(folder = machineFolder): (first: number) => boolean {
  requireRootFolder(folder)
  return (first) => {
    const place = join(folder, String(first))
    try {
      mkdirSync(place, { recursive: true, mode: 0o700 })
      held.push(lockDirectory(place))
      return true
    } catch (error) {
      if (memberOf(error, 'code') === 'not_owner') return false
      throw error
    }
  }
}

function requireRootFolder(folder: string): void {
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    if (memberOf(error, 'code') !== 'EEXIST') throw error
  }
  const { uid, mode } = lstatSync(folder)
  if (uid === 0 && (mode & 0o170_022) === 0o040_000) return
  throw new HeddleError('unavailable', `Others than root can write to ${folder}: remove it.`)
}

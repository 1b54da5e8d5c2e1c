/**
 * The users of a server that is root and names none: code of its deployments would otherwise run as
 * root. If the machine does not allow users, the code runs as root, with a warning.
 */

import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { dirname } from 'node:path'

import type { Env } from '../../../cluster/index.ts'
import { HeddleError, messageOf } from '../../errors.ts'
import { ownCode } from '../../graph/index.ts'
import { namesOf } from '../../settings/index.ts'
import type { Settings, UserRange } from '../../settings/index.ts'
import { blockLocks } from './block-lock.ts'
import { openGraphsUsers, thisMachine } from './graphs-users.ts'
import { namedUsers } from './named-users.ts'
import { usersFault } from './users-fault.ts'

/** Ids of the first and the last block, of which each server of a machine takes one. */
const blocks = { first: 80_000, last: 99_900, size: 100 }

type UsersSettings = Pick<Settings, 'graphsUsers' | 'dataDirectory'>

/**
 * Returns a function that finds the users of deployments, once: the named users, or a free block of
 * ids for a server that is root. Its promise never rejects.
 */
export function findUsers(settings: UsersSettings,
  env: Pick<Env, 'log'>): () => Promise<UserRange | undefined> {
  let found: Promise<UserRange | undefined> | undefined
  return () =>
    found ??= settings.graphsUsers === undefined
      ? openDefaultUsers(settings.dataDirectory, env)
      : Promise.resolve(namedUsers(settings))
}

async function openDefaultUsers(dataDirectory: string,
  { log }: Pick<Env, 'log'>): Promise<UserRange | undefined> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined
  try {
    requireReadable([process.execPath, ...ownCode()], [dataDirectory])
    const users = takeBlock(dataDirectory, log)
    await openGraphsUsers(users, dataDirectory)
    log.info('The code of each deployment runs as a user of its own.', { ...users })
    return users
  } catch (error) {
    log.warn('The code of deployments runs as root, because it cannot run as other users: run ' +
      `the server as another user, or see ${namesOf('graphsUsers')}.`, {
      reason: HeddleError.from(error).message,
    })
    return undefined
  }
}

/**
 * Throws for the first path that other users cannot read, or whose folders they cannot pass. Paths
 * of `reached` need not be readable. Access control lists do not count: with those, users can be
 * named.
 */
export function requireReadable(paths: readonly string[], reached: readonly string[]): void {
  const barred = [...paths, ...reached].flatMap(pathsAbove)
    .find((folder) => (modeOf(folder) & 0o001) === 0)
    ?? paths.find((path) => (modeOf(path) & 0o004) === 0)
  if (barred === undefined) return
  throw new HeddleError('unavailable', `Other users cannot read ${barred}.`)
}

/** The blocks in the order in which a server of a directory tries them. Pure. */
export function blocksFor(directory: string): readonly UserRange[] {
  const { first, last, size } = blocks
  const count = (last - first) / size + 1
  const start = createHash('sha256').update(directory).digest().readUInt32BE(0) % count
  return Array.from({ length: count }, (_, at) => {
    const id = first + (start + at) % count * size
    return { first: id, last: id + size - 1 }
  })
}

/** Takes the first block whose ids are free, and that no other server of this machine has. */
function takeBlock(directory: string, log: Env['log']): UserRange {
  const machine = thisMachine()
  const free = blocksFor(directory).filter((block) => usersFault(block, machine) === undefined)
  const found = free.find(takerOf(log))
  if (found !== undefined) return found
  throw new HeddleError('unavailable', 'All ids from 80000 to 99999 are taken.')
}

/** Takes the blocks that have ids of named users, so that other servers choose other blocks. */
export function takeNamed({ first, last }: UserRange, { log }: Pick<Env, 'log'>): void {
  const take = takerOf(log)
  for (const block of blocksFor('')) if (block.first <= last && first <= block.last) take(block)
}

/**
 * Returns a function that takes a block. Without locks, each block can be taken: users that another
 * server may have are safer than root.
 */
function takerOf(log: Env['log']): (block: UserRange) => boolean {
  try {
    const lock = blockLocks()
    return ({ first }) => lock(first)
  } catch (error) {
    log.warn(
      'Other servers of this machine may choose the same users for their deployments: give ' +
        `each a range of its own with ${namesOf('graphsUsers')}.`,
      { reason: messageOf(error) },
    )
    return () => true
  }
}

/** The folders above a path, from the root on. */
function pathsAbove(path: string): readonly string[] {
  const above = dirname(path)
  return above === path ? [] : [...pathsAbove(above), above]
}

/** Mode of a file or folder; all rights if it does not exist. */
function modeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mode ?? 0o777
}

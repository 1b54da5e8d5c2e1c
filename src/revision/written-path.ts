/** Names the path in errors of files that a build writes. */

import { tmpdir } from 'node:os'

import { HeddleError } from '../errors.ts'
import { memberOf, textAt } from '../json/index.ts'

const fullDisk: readonly unknown[] = ['ENOSPC', 'EDQUOT']

/**
 * Does work that writes to a file or a folder, which messages call `label`. Throws HeddleError
 * `unavailable` with the path for an error of the system, and rethrows all other errors.
 */
export async function writingTo<Result>(path: string, work: () => Promise<Result>,
  label = path): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (typeof memberOf(error, 'errno') !== 'number') throw error
    const code = memberOf(error, 'code')
    // An error of a write has no path.
    const failed = textAt(error, 'path') ?? path
    const message = fullDisk.includes(code)
      ? `The disk of ${label} is full: free some space, or name another place.`
      : `${failed.startsWith(path) ? label : failed} cannot be used (${String(code)}): check ` +
        'that it exists and that this user may read and write there.'
    throw new HeddleError('unavailable', message, {}, { cause: error })
  }
}

/** Does work in the folder for temporary files. Throws the errors of `writingTo`. */
export async function inTemporaryFolder<Result>(work: () => Promise<Result>): Promise<Result> {
  return await writingTo(tmpdir(), work, `${tmpdir()}, the folder for temporary files (TMPDIR),`)
}

/** Work that is done as the user of a deployment, so that root follows no link that it has made. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { asUser } from '../../graph/index.ts'

/**
 * end     ends all processes of the user
 * empty   removes all that is in a folder
 */
export type UserWork = readonly ['end'] | readonly ['empty', folder: string]

/** Milliseconds for the work, which is more than a folder of compiled code needs. */
const workMs = 60_000

/** Resolves when it is done. Rejects if the user may not. */
export async function doAs(user: number, work: UserWork): Promise<void> {
  const entry = fileURLToPath(new URL('./user-work-process.ts', import.meta.url))
  await promisify(execFile)(process.execPath, [entry, ...work], { ...asUser(user), cwd: '/',
    env: {}, timeout: workMs, killSignal: 'SIGKILL' })
}

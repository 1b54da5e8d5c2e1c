/** Folders of compiled code, one for each deployment that this member has executed. */

import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Makes the folder of a deployment. It has one of its own, because what its code writes there is
 * executed at the next start.
 */
export async function compileCacheOf(revisionsDirectory: string, id: string): Promise<string> {
  const folder = join(revisionsDirectory, 'compiled', id)
  await mkdir(folder, { recursive: true })
  return folder
}

/** Removes the folders of all other deployments. */
export async function keepCompileCaches(revisionsDirectory: string,
  ids: ReadonlySet<string>): Promise<void> {
  const parent = join(revisionsDirectory, 'compiled')
  const found = await readdir(parent).catch(() => [])
  const gone = found.filter((id) => !ids.has(id))
  await Promise.all(gone.map((id) => rm(join(parent, id), { recursive: true, force: true })))
}

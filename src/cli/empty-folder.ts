/** A folder that a command is going to fill. */

import { readdir } from 'node:fs/promises'
import { resolve } from 'node:path'

import { CommandError } from './admin-command.ts'

/** Its path. Throws CommandError, before any work, if there is something in it. */
export async function emptyFolder(from: string, typed: string): Promise<string> {
  const folder = resolve(from, typed)
  const present = await readdir(folder).catch(({ code }: NodeJS.ErrnoException) => {
    if (code === 'ENOENT') return []
    throw new CommandError(`${folder} cannot be used: ${code}.`)
  })
  if (present.length === 0) return folder
  throw new CommandError(`${folder} is not empty: name a new folder.`)
}

/** Folders that every user of the machine may read, whatever the umask of this process is. */

import { chmod, mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Mode of a folder that every user may read. */
const readable = 0o755

/** Makes a folder with all above it that are missing: code that runs as another user reads it. */
export async function makeReadable(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true })
  if (first === undefined) return
  for (let each = folder; each.length >= first.length; each = dirname(each)) {
    await chmod(each, readable)
  }
}

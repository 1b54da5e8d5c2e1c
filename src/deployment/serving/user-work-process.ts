/** The entry of a process that runs as the user of a deployment, and removes what it has left. */

import { chmod, readdir, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'

import { assert } from '../../errors.ts'
import { memberOf } from '../../json/index.ts'

const [work, folder = ''] = process.argv.slice(2)
assert(process.getuid?.() !== 0, 'this file is started as a user of its own')
if (work === 'end') endOthers()
else await empty(folder)

/**
 * Ends all other processes of the user in one call, so that none can start another one meanwhile.
 * Linux spares the caller.
 */
function endOthers(): void {
  try {
    process.kill(-1, 'SIGKILL')
  } catch (error) {
    // There is none.
    if (codeOf(error) !== 'ESRCH') throw error
  }
}

/** Empties a folder, after making it readable: the user owns it all the same. */
async function empty(path: string): Promise<void> {
  await chmod(path, 0o700)
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inner = join(path, entry.name)
    if (!entry.isDirectory()) {
      await unlink(inner)
      continue
    }
    await empty(inner)
    await rmdir(inner)
  }
}

function codeOf(error: unknown): unknown {
  return memberOf(error, 'code')
}

/** A fault of the disk: each `fsync` and `fdatasync` of a server takes long. */

import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Milliseconds that each call takes longer. */
const delayMs = 300

export interface SlowFsync {
  /** Environment of the server: it preloads a library that delays the calls. */
  readonly env: Readonly<Record<string, string>>
  /** Delays the calls until the function has finished. */
  during(run: () => Promise<void>): Promise<void>
}

/**
 * Builds the library in a folder. Resolves with undefined if this machine has no C compiler or does
 * not preload libraries.
 */
export async function buildSlowFsync(folder: string): Promise<SlowFsync | undefined> {
  if (process.platform !== 'linux') return undefined
  const [library, file] = [join(folder, 'slow-fsync.so'), join(folder, 'fsync-delay')]
  const source = join(import.meta.dirname, 'slow-fsync.c')
  try {
    await promisify(execFile)('cc', ['-shared', '-fPIC', '-o', library, source, '-ldl'])
  } catch (error) {
    console.log(`Without slow fsync: cc failed. ${(error as Error).message.split('\n')[0]}`)
    return undefined
  }
  return {
    env: { LD_PRELOAD: library, SLOW_FSYNC_FILE: file },
    async during(run) {
      await writeFile(file, String(delayMs))
      try {
        await run()
      } finally {
        await rm(file)
      }
    },
  }
}

/** A Python with packages of its own, made once and kept by what is installed in it. */

import { execFile, execFileSync } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { root } from './source-tree.ts'

const run = promisify(execFile)

const oldest = 'import sys; sys.exit(sys.version_info < (3, 10))'

/** The first Python that the clients can run on; undefined if there is none. */
export function findPython(): string | undefined {
  return ['python3', 'python'].find((name) => {
    try {
      execFileSync(name, ['-c', oldest], { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  })
}

/** A Python in which the packages of the file are installed. Resolves with its program. */
export async function pythonWith(found: string, requirements: string): Promise<string> {
  const hash = createHash('sha256').update(readFileSync(requirements)).digest('hex')
  const environment = join(root, 'node_modules/.cache', `heddle-python-${hash.slice(0, 12)}`)
  const pythonOf = (folder: string) =>
    join(folder, process.platform === 'win32' ? 'Scripts/python' : 'bin/python')
  if (existsSync(environment)) return pythonOf(environment)
  // Two files may want it at once: it has its name when all is installed.
  const making = `${environment}-${randomUUID()}`
  try {
    await run(found, ['-m', 'venv', making])
    await run(pythonOf(making), ['-m', 'pip', 'install', '--quiet', '--requirement', requirements])
    await rename(making, environment)
  } catch (error) {
    await rm(making, { recursive: true, force: true })
    if (!existsSync(environment)) throw error
  }
  return pythonOf(environment)
}

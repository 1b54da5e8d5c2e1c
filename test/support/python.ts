/** A Python with packages of its own, made once and kept by what is installed in it. */

import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
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
  const python = join(environment, process.platform === 'win32' ? 'Scripts/python' : 'bin/python')
  if (existsSync(python)) return python
  try {
    await run(found, ['-m', 'venv', environment])
    await run(python, ['-m', 'pip', 'install', '--quiet', '--requirement', requirements])
    return python
  } catch (error) {
    await rm(environment, { recursive: true, force: true })
    throw error
  }
}

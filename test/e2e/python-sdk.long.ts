/** The official Python client: one pass over its methods, if Python is there. */

import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { root } from '../support/source-tree.ts'

const run = promisify(execFile)
const folder = join(import.meta.dirname, 'python')
const requirements = join(folder, 'requirements.txt')
/** Kept for the next time: by what is installed in it. */
const environment = join(root, 'node_modules/.cache',
  `heddle-python-${
    createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12)
  }`)
const python = join(environment, process.platform === 'win32' ? 'Scripts/python' : 'bin/python')

/** The checks, by their names. */
const checks = ['assistants', 'threads', 'runs', 'run_streams', 'interrupts', 'sync_client',
  'batch', 'cancel_many', 'strict_resume', 'expiry', 'prune', 'thread_stream', 'store', 'crons',
  'protocol_v2_sse', 'protocol_v2_websocket', 'protocol_v2_interrupt', 'protocol_v2_subgraphs']

const oldest = 'import sys; sys.exit(sys.version_info < (3, 10))'

/** The first Python that the client can run on; undefined if there is none. */
function findPython(): string | undefined {
  return ['python3', 'python'].find((name) => {
    try {
      execFileSync(name, ['-c', oldest], { stdio: 'ignore' })
      return true
    } catch {
      return false
    }
  })
}

const found = findPython()
if (found === undefined) console.log('The Python client is not tested: Python 3.10 is not there.')

describe.skipIf(found === undefined)('the Python client', () => {
  const server = useServer({ project: 'python' })

  beforeAll(async () => {
    if (existsSync(python)) return
    try {
      await run(found!, ['-m', 'venv', environment])
      await run(python, ['-m', 'pip', 'install', '--quiet', '--requirement', requirements])
    } catch (error) {
      await rm(environment, { recursive: true, force: true })
      throw error
    }
  }, 600_000)

  it('has its checks named here', () => {
    const named = readFileSync(join(folder, 'checks.py'), 'utf8')
      .matchAll(/^@check\n(?:async )?def (\w+)/gm)
    expect([...named].map(([, name]) => name).toSorted()).toEqual(checks.toSorted())
  })

  it.each(checks)('passes: %s', (name) => check(name))

  async function check(name: string): Promise<void> {
    const { stderr } = await run(python, [join(folder, 'checks.py'), server.url, name])
      .catch((error: unknown) => error as { stderr: string })
    expect(stderr).toBe('')
  }
})

/** The official Python client: one pass over its methods, if Python is there. */

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'

import { findPython, pythonWith } from '../support/python.ts'
import { useServer } from '../support/server.ts'

const run = promisify(execFile)
const folder = join(import.meta.dirname, 'python')

/** The checks, by their names. */
const checks = ['assistants', 'threads', 'runs', 'run_streams', 'interrupts', 'sync_client',
  'sync_cancel', 'batch', 'cancel_many', 'strict_resume', 'expiry', 'prune', 'thread_stream',
  'store', 'crons', 'protocol_v2_sse', 'protocol_v2_websocket', 'protocol_v2_interrupt',
  'protocol_v2_subgraphs', 'protocol_v2_cancel', 'protocol_v2_breakpoint',
  'protocol_v2_subgraph_question']

const found = findPython()
if (found === undefined) console.log('The Python client is not tested: Python 3.10 is not there.')

describe.skipIf(found === undefined)('the Python client', () => {
  const server = useServer({ project: 'python' })

  let python: string
  beforeAll(async () => {
    python = await pythonWith(found!, join(folder, 'requirements.txt'))
  }, 600_000)

  it('has its checks named here', () => {
    const named = readFileSync(join(folder, 'checks.py'), 'utf8')
      .matchAll(/^@check\n(?:async )?def (\w+)/gm)
    expect([...named].map(([, name]) => name).toSorted()).toEqual(checks.toSorted())
  })

  describe('passes', () => {
    const faults = new Map<string, string | null>()
    let stderr = ''
    // One process for all: to import the client takes longer than most checks.
    beforeAll(async () => {
      const args = [join(folder, 'checks.py'), server.url, ...checks]
      const result = await run(python, args)
        .catch((error: unknown) => error as { stdout: string; stderr: string })
      for (const line of result.stdout.split('\n').filter(Boolean)) {
        const [name, fault] = JSON.parse(line) as [string, string | null]
        faults.set(name, fault)
      }
      stderr = result.stderr
    }, 600_000)

    it.each(checks)('%s', (name) => {
      // Undefined if the process ended before it.
      expect(faults.get(name), stderr).toBeNull()
    })

    it('all, without a complaint', () => {
      expect(stderr).toBe('')
    })
  })
})

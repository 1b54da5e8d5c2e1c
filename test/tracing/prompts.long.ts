/** Prompts by the LangSmith client, unmodified, in the versions that people have. */

import { join } from 'node:path'

import { beforeAll, describe, it } from 'vitest'

import { findPython, pythonWith } from '../support/python.ts'
import { useServer } from '../support/server.ts'
import { expectToPass, versions } from './drive.ts'

const server = useServer({ project: 'conformance',
  args: ['--platform-port', '0', '--hub-handle', 'acme'] })

function drive(version: string, base: string): Promise<void> {
  return expectToPass({
    args: ['prompts-driver.mjs', version, base, `p-${crypto.randomUUID()}`],
    env: { LANGSMITH_ENDPOINT: base },
  }, 6)
}

describe.each(versions)('%s', (version) => {
  it('does all it can with prompts', () => drive(version, `${server.url}/api/v1`))

  it('does all it can with prompts at the port of the platform', () =>
    drive(version, /"traces":"(http[^"]+)"/.exec(server.process.output())![1]!))
})

const found = findPython()

describe.skipIf(found === undefined)('the client for Python', () => {
  let program: string
  beforeAll(async () => {
    program = await pythonWith(found!, join(import.meta.dirname, 'python/requirements.txt'))
  }, 600_000)

  it('does all it can with prompts', () =>
    expectToPass({ program,
      args: ['python/prompt_checks.py', `${server.url}/api/v1`, `p-${crypto.randomUUID()}`] }, 5))
})

/** Queues and shares by the LangSmith client, unmodified, in the versions that people have. */

import { describe, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { expectToPass, versions } from './drive.ts'

const server = useServer({ project: 'conformance', args: ['--platform-port', '0'] })

function drive(version: string, base: string): Promise<void> {
  return expectToPass({
    args: ['shares-driver.mjs', version, base, `s ${crypto.randomUUID()}`],
    env: { LANGSMITH_ENDPOINT: base },
  }, 4)
}

describe.each(versions)('%s', (version) => {
  it('fills queues and shares runs and datasets', () => drive(version, `${server.url}/api/v1`))

  it('does it at the port of the platform', () =>
    drive(version, /"traces":"(http[^"]+)"/.exec(server.process.output())![1]!))
})

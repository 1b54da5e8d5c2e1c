/** The LangSmith client, unmodified, in the versions that people have: nothing fails or warns. */

import { describe, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { bases, expectToPass, versions } from './drive.ts'

const server = useServer({ project: 'conformance', args: ['--platform-port', '0'] })

function drive(version: string, base: string): Promise<void> {
  return expectToPass({
    args: ['langsmith-driver.mjs', version, base, `${version} ${crypto.randomUUID()}`],
    env: { LANGSMITH_TRACING: 'true', LANGSMITH_ENDPOINT: base },
  }, 8)
}

describe.each(versions)('%s', (version) => {
  it.each(bases)('does all it can with the base %s', (base) => drive(version, server.url + base))

  it('does all it can at the port of the platform', () =>
    drive(version, /"traces":"(http[^"]+)"/.exec(server.process.output())![1]!))
})

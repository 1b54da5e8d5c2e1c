/** Datasets and evaluation with the unmodified client, in the versions that people have. */

import { describe, it } from 'vitest'

import { useServer } from '../support/server.ts'
import { expectToPass } from './drive.ts'

const server = useServer({ project: 'conformance' })

/** What `evaluate()` prints whenever it begins. */
const starts = /^(Starting (pairwise )?evaluation of( experiment)?: |View results at:? http)\S/

describe.each(['langsmith', 'langsmith-0.10', 'langsmith-0.6'])('%s', (version) => {
  it('evaluates over datasets', () =>
    expectToPass({
      args: ['datasets-driver.mjs', version, `${server.url}/api/v1`,
        `${version} ${crypto.randomUUID().slice(0, 8)}`],
      env: { LANGSMITH_TRACING: 'true', LANGSMITH_ENDPOINT: `${server.url}/api/v1` },
      says: starts,
    }, 11))
})

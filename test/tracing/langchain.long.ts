/** LangChain's own tracer, unmodified: what it sends is read back by the client, and is whole. */

import { it } from 'vitest'

import { useServer } from '../support/server.ts'
import { expectToPass } from './drive.ts'

const server = useServer({ project: 'conformance' })

it('traces sequences, streams, failures and tools', () =>
  expectToPass({
    args: ['langchain-driver.mjs', 'langchain'],
    env: { LANGSMITH_TRACING: 'true', LANGSMITH_ENDPOINT: `${server.url}/api/v1`,
      LANGSMITH_API_KEY: 'a key', LANGCHAIN_CALLBACKS_BACKGROUND: 'false' },
  }, 5))

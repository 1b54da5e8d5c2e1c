/** What code in a graph knows about its own server. */

import { expect, it, onTestFinished, vi } from 'vitest'

import { serverIsAt } from '../../../../src/graph/pool/in-graph-client.ts'

it('A graph knows the port of its server even if it is the default port of the URL.', () => {
  vi.stubEnv('PORT', undefined)
  vi.stubEnv('LANGGRAPH_API_URL', undefined)
  onTestFinished(() => void vi.unstubAllEnvs())
  serverIsAt('http://127.0.0.1:8123')
  expect(process.env.PORT).toBe('8123')
  serverIsAt('http://127.0.0.1:80')
  expect(process.env.PORT).toBe('80')
})

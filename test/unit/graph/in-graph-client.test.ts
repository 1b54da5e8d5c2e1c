/** What code inside of a graph is told about its own server. */

import { expect, it, onTestFinished, vi } from 'vitest'

import { serverIsAt } from '../../../src/graph/in-graph-client.ts'

it('A graph knows the port of its server also where a URL need not name it.', () => {
  vi.stubEnv('PORT', undefined)
  vi.stubEnv('LANGGRAPH_API_URL', undefined)
  onTestFinished(() => void vi.unstubAllEnvs())
  serverIsAt('http://127.0.0.1:8123')
  expect(process.env.PORT).toBe('8123')
  serverIsAt('http://127.0.0.1:80')
  expect(process.env.PORT).toBe('80')
})

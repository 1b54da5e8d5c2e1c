/** Addresses of traces, whose calls are not the graph's own. */

import { afterEach, expect, it, vi } from 'vitest'

import { isTraceAddress } from '../../../../src/graph/calls/trace-address.ts'

afterEach(() => void vi.unstubAllEnvs())

it('The service of traces is known by its host and by the variables.', () => {
  vi.stubEnv('LANGSMITH_ENDPOINT', 'https://traces.shop.test/api')
  expect(isTraceAddress('https://eu.api.smith.langchain.com/runs/batch')).toBe(true)
  expect(isTraceAddress('https://traces.shop.test/api/runs')).toBe(true)
  expect(isTraceAddress('https://api.smith.langchain.com.shop.test/')).toBe(false)
  expect(isTraceAddress('https://shop.test/')).toBe(false)
})

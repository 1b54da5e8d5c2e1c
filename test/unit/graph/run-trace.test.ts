/** What a run is part of, as the tracing of the project itself sees it. */

import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { expect, it } from 'vitest'

import { underTrace } from '../../../src/graph/run-trace.ts'

const traceId = 'ab'.repeat(16)
const spanId = 'cd'.repeat(8)
const active = async () => {
  await new Promise((resolve) => setImmediate(resolve))
  return trace.getSpanContext(context.active())
}

it('A project that has set up no tracing is not bothered with any', async () => {
  expect(await underTrace(`00-${traceId}-${spanId}-01`, active)).toBeUndefined()
})

it('Spans that a project begins itself stand under the run', async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  expect(await underTrace(`00-${traceId}-${spanId}-01`, active))
    .toMatchObject({ traceId, spanId, traceFlags: 1 })
  expect(await underTrace(undefined, active)).toBeUndefined()
})

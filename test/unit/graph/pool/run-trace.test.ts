/** The trace that a run is part of, as the project's own tracing sees it. */

import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { expect, it } from 'vitest'

import { underTrace } from '../../../../src/graph/pool/run-trace.ts'

const traceId = 'ab'.repeat(16)
const spanId = 'cd'.repeat(8)
const active = async () => {
  await new Promise((resolve) => setImmediate(resolve))
  return trace.getSpanContext(context.active())
}

it('A project without tracing sees no active span.', async () => {
  expect(await underTrace(`00-${traceId}-${spanId}-01`, active)).toBeUndefined()
})

it("The span of the run is active for the project's own tracing.", async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  expect(await underTrace(`00-${traceId}-${spanId}-01`, active))
    .toMatchObject({ traceId, spanId, traceFlags: 1 })
  expect(await underTrace(undefined, active)).toBeUndefined()
})

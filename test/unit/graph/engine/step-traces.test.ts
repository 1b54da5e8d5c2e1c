/** What the project's tracer sends for one run, and where it places it. */

import { RunnableLambda } from '@langchain/core/runnables'
import { expect, it } from 'vitest'

import { StepTraces } from '../../../../src/graph/engine/step-traces.ts'
import type { TraceBody } from '../../../../src/graph/engine/step-traces.ts'
import type { Execution, ExecutionOutcome, RunRequest } from '../../../../src/graph/execution.ts'

const runId = '11111111-1111-4111-8111-111111111111'
const attemptId = '22222222-2222-4222-8222-222222222222'

const executionOf = (tenant: string, attempt: number) =>
  ({ id: 1, tenant, threadId: 't', graphId: 'speaker', runId, attempt, headId: null,
    request: { kind: 'run', config: '{}' } as RunRequest }) satisfies Execution

async function opened() {
  const bodies: TraceBody[] = []
  const traces = await StepTraces.open({ ratio: 1, nowMs: () => 1_700_000_000_000,
    uuid: () => attemptId, send: async (body) => {
      bodies.push(body)
      return 202
    } })
  if (typeof traces === 'string') throw new Error(traces)
  const sent = async () => {
    await traces.flush()
    return bodies.map(({ tenant, body }) => `${tenant}: ${new TextDecoder().decode(body)}`)
  }
  return { traces, sent }
}

async function speak(tracer: object) {
  const inner = RunnableLambda.from((text: string) => `${text}!`).withConfig({ runName: 'inner' })
  const outer = RunnableLambda.from((text: string, config) => inner.invoke(text, config))
  await outer.invoke('hello', { callbacks: [tracer as never], runId, runName: 'LangGraph' })
}

it('sends the tree of a run, under the name of its graph, apart for each tenant', async () => {
  const { traces, sent } = await opened()
  for (const tenant of ['acme', 'other']) await speak(traces.begin(executionOf(tenant, 1))!.tracer)
  const bodies = await sent()
  for (const tenant of ['acme', 'other']) {
    const text = bodies.filter((body) => body.startsWith(`${tenant}: `)).join('')
    expect(text).toContain(`"id":"${runId}"`)
    expect(text).toContain(`"parent_run_id":"${runId}"`)
    expect(text).toContain('"name":"speaker"')
    expect(text).toContain('"name":"inner"')
    expect(text).toContain('"session_name":"speaker"')
    expect(text).toContain('hello!')
    expect(text).not.toContain('"name":"LangGraph"')
  }
})

it('makes a trace of its own for an attempt that continues a run', async () => {
  const { traces, sent } = await opened()
  await speak(traces.begin(executionOf('acme', 2))!.tracer)
  const text = (await sent()).join('')
  expect(text).toContain(`"id":"${attemptId}"`)
  expect(text).toContain(`"parent_run_id":"${attemptId}"`)
  expect(text).not.toContain(runId)
})

it('makes a root for a run that failed before its graph was called, and for no other', async () => {
  const { traces, sent } = await opened()
  const outcome: ExecutionOutcome = { status: 'error', waiting: false, interrupts: '{}',
    error: { error: 'TypeError', message: 'no customer' } }
  traces.begin(executionOf('other', 1))!.ended({ ...outcome, status: 'success', error: null })
  traces.begin(executionOf('acme', 1))!.ended(outcome)
  await expect.poll(async () => (await sent()).join('')).toContain('TypeError: no customer')
  expect((await sent()).filter((body) => body.startsWith('other'))).toEqual([])
})

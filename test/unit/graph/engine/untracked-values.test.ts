/** Untracked values at the end of a run: its outcome has them, because no checkpoint does. */

import { END, START, StateGraph, StateSchema, UntrackedValue,
  interrupt } from '@langchain/langgraph'
import { createAgent, FakeToolCallingModel, toolStrategy } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

import { untrackedMax } from '../../../../src/graph/events/untracked-values.ts'
import { isOutcome } from '../../../../src/graph/pool/mail-check.ts'
import { GraphBench } from '../../../support/graph-bench.ts'
import type { Ran } from '../../../support/graph-bench.ts'
import { said } from '../../../support/small-graphs.ts'

const State = new StateSchema({
  log: z.array(z.string()).default([]),
  answer: new UntrackedValue(z.unknown()),
  unit: new UntrackedValue(z.string().default('km')),
})

/** A graph whose first node sets the untracked answer. */
function answering(answer: unknown, last: () => string = () => 'last') {
  return new StateGraph(State)
    .addNode('first', () => ({ log: ['first'], answer }))
    .addNode('last', () => ({ log: [last()] }))
    .addEdge(START, 'first')
    .addEdge('first', 'last')
    .addEdge('last', END)
    .compile()
}

/** The state values in the last `values` event of a run. */
function lastValues({ events }: Ran): unknown {
  return JSON.parse(events.findLast(({ name }) => name === 'values')!.json)
}

/** The untracked values of an outcome. */
function untrackedIn({ outcome: { untracked } }: Ran): unknown {
  return untracked === undefined ? undefined : JSON.parse(untracked)
}

describe('the outcome of a run', () => {
  it('has the structured response of an agent', async () => {
    const model = new FakeToolCallingModel({
      toolCalls: [[{ name: 'extract-1', args: { city: 'Oslo' }, id: '1' }]],
    })
    const responseFormat = toolStrategy(z.object({ city: z.string() }))
    const bench = new GraphBench(createAgent({ model, tools: [], responseFormat }))
    const ran = await bench.run({ input: said('Where am I?') })
    expect(untrackedIn(ran)).toEqual({ structuredResponse: { city: 'Oslo' } })
    const { messages } = bench.log.values()
    expect(lastValues(ran)).toEqual({ messages, structuredResponse: { city: 'Oslo' } })
  })

  it('has the untracked values of the last event that shows the state', async () => {
    const bench = new GraphBench(answering({ is: 42 }))
    const ran = await bench.run({ input: { log: [] } })
    expect(untrackedIn(ran)).toEqual({ answer: { is: 42 }, unit: 'km' })
    const { log } = bench.log.values()
    expect(lastValues(ran)).toEqual({ log, answer: { is: 42 }, unit: 'km' })
  })

  it.for([['updates'], ['messages-tuple'], ['events']])(
    'has them if the client streams %s',
    async (streamModes) => {
      const ran = await new GraphBench(answering(1)).run({ input: { log: [] }, streamModes })
      expect(untrackedIn(ran)).toEqual({ answer: 1, unit: 'km' })
      expect(ran.events.some(({ name }) => name === 'values')).toBe(false)
    },
  )

  it('has them if the run waits at an interrupt', async () => {
    const graph = answering(1, () => String(interrupt('Sure?')))
    const bench = new GraphBench(graph)
    const ran = await bench.run({ input: { log: [] } })
    expect(ran.outcome.waiting).toBe(true)
    expect(untrackedIn(ran)).toEqual({ answer: 1, unit: 'km' })
    const resumed = await bench.run({ command: { resume: 'yes' } })
    // The engine forgets untracked values between two runs.
    expect(untrackedIn(resumed)).toEqual({ unit: 'km' })
  })

  it('has none for a graph that tracks all of its state', async () => {
    const Tracked = new StateSchema({ log: z.array(z.string()).default([]) })
    const graph = new StateGraph(Tracked)
      .addNode('only', () => ({ log: ['only'] }))
      .addEdge(START, 'only')
      .addEdge('only', END)
      .compile()
    const { outcome } = await new GraphBench(graph).run({ input: { log: [] } })
    expect(outcome).not.toHaveProperty('untracked')
  })

  it('has none for a run that failed', async () => {
    const graph = answering(1, () => {
      throw new Error('no')
    })
    const { outcome } = await new GraphBench(graph).run({ input: { log: [] } })
    expect(outcome).toMatchObject({ status: 'error' })
    expect(outcome).not.toHaveProperty('untracked')
  })

  it('leaves out a value that exceeds the limit, and logs its channel', async () => {
    const bench = new GraphBench(answering('x'.repeat(untrackedMax)))
    const ran = await bench.run({ input: { log: [] } })
    expect(untrackedIn(ran)).toEqual({ unit: 'km' })
    expect(bench.warnings).toMatchObject([{ channel: 'answer' }])
  })

  it('leaves out a value that has no JSON form, and succeeds', async () => {
    const answer = {
      toJSON: () => {
        throw new Error('no JSON')
      },
    }
    const bench = new GraphBench(answering(answer))
    const ran = await bench.run({ input: { log: [] }, streamModes: ['custom'] })
    expect(ran.outcome.status).toBe('success')
    expect(untrackedIn(ran)).toEqual({ unit: 'km' })
  })
})

it('a worker cannot report untracked values that are too long or no JSON object', () => {
  const outcome = { status: 'success', waiting: false, interrupts: '{}', error: null }
  const ofBytes = (bytes: number) => `{"a":"${'x'.repeat(bytes - 8)}"}`
  const isAccepted = (untracked: unknown) => isOutcome({ ...outcome, untracked })
  expect([undefined, '{}', ofBytes(untrackedMax)].map(isAccepted)).toEqual([true, true, true])
  const refused = [ofBytes(untrackedMax + 1), '', 'null', '[]', '{"a":}', '{},"b":1', 7]
  expect(refused.filter(isAccepted)).toEqual([])
})

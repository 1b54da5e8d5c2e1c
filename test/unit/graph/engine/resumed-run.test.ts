/** A run that goes on elsewhere: nothing is done twice, and no event is missing. */

import { HumanMessage, ToolMessage } from '@langchain/core/messages'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'

import type { WorkerBatch } from '../../../../src/graph/events/worker-batch.ts'
import { GraphBench, runIdOf } from '../../../support/graph-bench.ts'
import { fanOut, line, said, twoQuestions } from '../../../support/small-graphs.ts'

describe('a resumed run', () => {
  /** The log as a crash leaves it: with the first `count` steps; and all events of a whole run. */
  async function crashed(graph: unknown, input: unknown, count: number) {
    const bench = new GraphBench(graph)
    const batches: WorkerBatch[] = []
    const config = { metadata: { run_id: runIdOf(1) } }
    const streamModes = ['values', 'updates']
    const full = new GraphBench(graph)
    await full.run({ input, config, streamModes, onBatch: (d) => batches.push(d) })
    bench.log.append(batches.flatMap(({ steps }) => steps).slice(0, count))
    return { bench, config, streamModes, events: batches.flatMap(({ events }) => events) }
  }

  it('repeats no finished task and no event that was sent', async () => {
    let runs = 0
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('call', () => {
        runs += 1
        return { messages: [new ToolMessage({ content: `run ${runs}`, tool_call_id: 't' })] }
      })
      .addNode('last', () => ({ messages: [new HumanMessage('end')] }))
      .addEdge(START, 'call').addEdge('call', 'last').addEdge('last', END).compile()
    const { bench, config, streamModes, events } = await crashed(graph, said('a'), 4)
    expect(bench.log.writes.at(-1)!.writes[0]!.channel).toBe('messages')
    runs = 0
    const emitted = events.slice(0, 2)
    expect(emitted.map(({ name }) => name)).toEqual(['values', 'updates'])
    const again = await bench.run({ input: null, config, streamModes, attempt: 2, emitted,
      runId: runIdOf(1) })
    expect(runs).toBe(0)
    expect(again.events.map(({ name }) => name)).toEqual(['values', 'updates', 'values'])
    expect(again.events[1]!.json).toContain('"last"')
    const { messages } = bench.log.values() as { messages: { id: string }[] }
    expect(emitted[1]!.json).toContain(messages[1]!.id)
  })

  it('sends the events of finished tasks that were not sent, and no older ones', async () => {
    const { bench, config, streamModes } = await crashed(line(['a', 'b']), { log: [] }, 4)
    const { events } = await bench.run({ input: null, config, streamModes, attempt: 2,
      runId: runIdOf(1) })
    expect(events.filter(({ name }) => name === 'updates').map(({ json }) => json))
      .toEqual(['{"a":{"log":["a"]}}', '{"b":{"log":["b"]}}'])
  })

  it('sends an interrupt once, however often the graph comes to it', async () => {
    const graph = twoQuestions
    const { bench, config, streamModes, events } = await crashed(graph, { log: [] }, 4)
    const emitted = events.slice(0, 3)
    expect(emitted.filter(({ json }) => json.includes('left?'))).toHaveLength(2)
    const again = await bench.run({ input: null, config, streamModes, attempt: 2, emitted,
      runId: runIdOf(1) })
    expect(again.outcome.waiting).toBe(true)
    expect(again.events.map(({ name, json }) => [name, json.includes('right?')]))
      .toEqual([['updates', true], ['values', true]])
  })

  it('runs the task of each Send once', async () => {
    const { bench, config } = await crashed(fanOut, { log: [] }, 5)
    await bench.run({ input: null, config, attempt: 2, runId: runIdOf(1) })
    expect(bench.log.values().log).toEqual(['spread', 'work 1', 'work 2'])
  })
})

/** The events of a run: the names and data that the API promises, for every stream mode. */

import type { ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import { MessagesAnnotation, START, StateGraph, interrupt } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

import type { StepEvent } from '../../../../src/graph/execution.ts'
import { GraphBench, runIdOf } from '../../../support/graph-bench.ts'
import type { RunOptions } from '../../../support/graph-bench.ts'
import { echo, line, nested, nestedAsk, said, tokens,
  twoQuestions } from '../../../support/small-graphs.ts'

async function eventsOf(graph: unknown, options: RunOptions): Promise<StepEvent[]> {
  return (await new GraphBench(graph).run(options)).events
}

function names(events: readonly StepEvent[]): string[] {
  return events.map(({ name }) => name)
}

function data(event: StepEvent | undefined): unknown {
  return JSON.parse(event!.json)
}

describe('values', () => {
  it('name the checkpoints that hold them', async () => {
    const bench = new GraphBench(line(['a', 'b']))
    const { events } = await bench.run({ input: { log: ['in'] } })
    const [, ...loops] = bench.log.checkpoints.map(({ id }) => id)
    expect(events).toEqual(
      loops.map((valuesOf) => ({ name: 'values', json: '', valuesOf, durable: true })),
    )
  })

  it('name the head if a run continues from it', async () => {
    const bench = new GraphBench(line(['a', 'b']))
    await bench.run({ input: { log: [] }, interruptBefore: ['b'], forget: true })
    const headId = bench.log.headId!
    const { events } = await bench.run({ input: null })
    expect(events[0]!.valuesOf).toBe(headId)
  })

  it('are sent in full if no checkpoint holds them', async () => {
    const bench = new GraphBench(line(['a']))
    const { events } = await bench.run({ input: { log: ['in'] }, durability: 'exit' })
    expect(data(events[0])).toEqual({ log: ['in'] })
    expect(events[1]!.valuesOf).toBe(bench.log.headId)
  })

  it('have each interrupt in an event of its own', async () => {
    const events = await eventsOf(twoQuestions, { input: { log: [] } })
    const interrupts = events.filter(({ json }) => json.includes('__interrupt__')).map(data)
    expect(interrupts).toEqual(
      ['left?', 'right?'].map((value) => ({
        __interrupt__: [{ id: expect.any(String) as string, value }],
      })),
    )
  })

  it('of subgraphs carry their namespace', async () => {
    const events = await eventsOf(nested, { input: { log: [] }, streamSubgraphs: true })
    const sub = events.filter(({ name }) => /^values\|sub:[0-9a-f-]{36}$/.test(name))
    expect(sub.map(data).at(-1)).toEqual({ log: ['deep', 'deeper'] })
    expect(sub.every(({ durable }) => durable)).toBe(true)
    expect(names(events).every((name) => name.startsWith('values'))).toBe(true)
  })
})

describe('updates', () => {
  it('have what each node wrote', async () => {
    const options = { input: { log: [] }, streamModes: ['updates'] }
    const events = await eventsOf(line(['a', 'b']), options)
    expect(events).toEqual([
      { name: 'updates', json: '{"a":{"log":["a"]}}', valuesOf: '', durable: true },
      { name: 'updates', json: '{"b":{"log":["b"]}}', valuesOf: '', durable: true },
    ])
  })

  it('show a breakpoint as an empty list of interrupts', async () => {
    const events = await eventsOf(line(['a', 'b']), { input: { log: [] }, interruptBefore: '*',
      streamModes: ['updates'] })
    expect(events.map(data)).toEqual([{ __interrupt__: [] }])
  })

  it('of subgraphs are sent if they are asked for', async () => {
    const options = { input: { log: [] }, streamModes: ['updates'] }
    expect(names(await eventsOf(nested, options))).toEqual(['updates', 'updates'])
    const events = await eventsOf(nested, { ...options, streamSubgraphs: true })
    expect(names(events).map((name) => name.replace(/:.*/, ''))).toEqual(
      ['updates|sub', 'updates|sub', 'updates', 'updates'],
    )
  })

  it('are not sent if they are not asked for, though Heddle uses them itself', async () => {
    const bench = new GraphBench(nestedAsk)
    const { events, outcome } = await bench.run({ input: { log: [] }, streamModes: ['custom'],
      streamSubgraphs: true })
    expect(events).toEqual([])
    expect(outcome.waiting).toBe(true)
  })
})

describe('messages', () => {
  it('as tuples: chunks with one id, each with the metadata of its node', async () => {
    const events = await eventsOf(tokens, { input: said('x'), streamModes: ['messages-tuple'],
      config: { metadata: { graph_id: 'g' } } })
    expect(new Set(names(events))).toEqual(new Set(['messages']))
    const tuples = events.map(data) as [{ content: string; id: string; type: string },
      Record<string, unknown>][]
    expect(tuples.map(([{ content }]) => content).join('')).toBe('one two')
    expect(new Set(tuples.map(([{ id }]) => id)).size).toBe(1)
    expect(tuples[0]![0]).toMatchObject({ type: 'ai', tool_call_chunks: [] })
    expect(tuples[0]![1]).toMatchObject({ langgraph_node: 'model', langgraph_step: 1, graph_id: 'g',
      tags: expect.any(Array) as unknown[], langgraph_checkpoint_ns: expect.any(String) as string })
  })

  it('as tuples: whole if a node returns them', async () => {
    const events = await eventsOf(echo, { input: said('x'), streamModes: ['messages-tuple'] })
    expect(events).toHaveLength(1)
    expect(data(events[0])).toMatchObject([{ type: 'ai', content: 're: x' }, {}])
  })

  it('in mode messages: metadata, partial messages, then complete ones', async () => {
    const events = await eventsOf(tokens, { input: said('x'), streamModes: ['messages'] })
    expect(names(events).filter((name, i, all) => name !== all[i - 1])).toEqual(
      ['messages/complete', 'messages/metadata', 'messages/partial', 'messages/complete'],
    )
    const [first, metadata] = events
    expect(data(first)).toMatchObject([{ type: 'human', content: 'x' }])
    const [[id, about]] = Object.entries(data(metadata) as object) as [[string, unknown]]
    expect(about).toMatchObject({ metadata: { langgraph_node: 'model' } })
    const partial = events.filter(({ name }) => name === 'messages/partial').map(data)
    expect(partial.at(-1)).toMatchObject([{ id, content: 'one two' }])
    expect(partial.length).toBeGreaterThan(3)
    expect(data(events.at(-1))).toMatchObject([{ type: 'ai', content: 'one two' }])
  })

  it('are sent in both forms if both modes are asked for', async () => {
    const events = await eventsOf(echo, { input: said('x'),
      streamModes: ['messages', 'messages-tuple', 'values'] })
    expect(new Set(names(events))).toEqual(new Set(['messages/complete', 'values', 'messages']))
  })

  it('are complete behind the values that have them, also at the end', async () => {
    const events = await eventsOf(tokens, { input: said('x'), streamModes: ['messages', 'values'] })
    const shown = names(events).filter((name, i, all) => name !== all[i - 1])
    expect(shown).toEqual(['values', 'messages/complete', 'messages/metadata', 'messages/partial',
      'values', 'messages/complete'])
  })
})

describe('the other modes', () => {
  it('custom: whatever a node writes, also in a subgraph', async () => {
    const options = { input: { log: [] }, streamModes: ['custom'] }
    expect(await eventsOf(nested, options)).toEqual(
      [{ name: 'custom', json: '{"from":"deeper"}', valuesOf: '', durable: false }],
    )
    expect(names(await eventsOf(nested, { ...options, streamSubgraphs: true }))[0])
      .toMatch(/^custom\|sub:/)
  })

  it('debug: checkpoints, tasks and their results', async () => {
    const events = await eventsOf(nested, { input: { log: [] }, streamModes: ['debug'],
      config: { configurable: { user: 'me' } } })
    const chunks = events.map(data) as { type: string; step: number; timestamp: string;
      payload: Record<string, unknown> }[]
    expect(chunks.map(({ type }) => type)).toEqual(['checkpoint', 'checkpoint', 'task',
      'task_result', 'checkpoint', 'task', 'task_result', 'checkpoint'])
    const { payload } = chunks[1]!
    expect(payload).toMatchObject({ next: ['sub'], values: { log: [] },
      metadata: { source: 'loop' }, checkpoint: { checkpoint_ns: '' },
      config: { configurable: { user: 'me' } } })
    expect(payload.tasks).toMatchObject([{ name: 'sub',
      checkpoint: { checkpoint_ns: expect.stringMatching(/^sub:/) as string } }])
    const { configurable } = payload.config as { configurable: object }
    expect(Object.keys(configurable).filter((key) => key.startsWith('__'))).toEqual([])
  })

  it('tasks: the start and the end of each', async () => {
    const events = await eventsOf(line(['a']), { input: { log: [] }, streamModes: ['tasks'] })
    expect(events.map(data)).toMatchObject([
      { name: 'a', input: { log: [] }, triggers: ['branch:to:a'], interrupts: [] },
      { name: 'a', result: { log: ['a'] }, interrupts: [] },
    ])
  })

  it('checkpoints: each with config, tasks and next nodes', async () => {
    const events = await eventsOf(line(['a']), { input: { log: [] }, streamModes: ['checkpoints'] })
    expect(names(events)).toEqual(['checkpoints', 'checkpoints', 'checkpoints'])
    expect(data(events[1])).toMatchObject({ next: ['a'], metadata: { step: 0 }, tasks: [{}],
      config: { configurable: {} }, parent_config: { configurable: {} },
      parent_checkpoint: { checkpoint_ns: '' } })
    const inner = await eventsOf(nested, { input: { log: [] }, streamModes: ['checkpoints'],
      streamSubgraphs: true })
    expect(inner.map(({ json }) => json).join()).not.toMatch(/"__\w+":/)
  })

  it('tools: the start and the end of a call', async () => {
    const add = tool(({ a, b }) => String(a + b), { name: 'add', description: 'adds',
      schema: z.object({ a: z.number(), b: z.number() }) })
    const graph = new StateGraph(MessagesAnnotation).addNode('tools', async (_, config) => {
      const call = { name: 'add', args: { a: 1, b: 2 }, id: 'c', type: 'tool_call' as const }
      return { messages: [await add.invoke(call, config) as ToolMessage] }
    }).addEdge(START, 'tools').compile()
    const events = await eventsOf(graph, { input: said('x'), streamModes: ['tools'] })
    expect(events.map(data)).toMatchObject([
      { event: 'on_tool_start', name: 'add', toolCallId: 'c' },
      { event: 'on_tool_end', output: { type: 'tool', content: '3' } },
    ])
  })

  it('events: every call but the chunks of the graph, which the other modes have', async () => {
    const events = await eventsOf(tokens, { input: said('x'), streamModes: ['events', 'updates'] })
    const own = events.filter(({ name }) => name === 'events').map(data) as { event: string;
      run_id: string; tags: string[] }[]
    expect(own[0]).toMatchObject({ event: 'on_chain_start', run_id: runIdOf(1) })
    expect(own.at(-1)).toMatchObject({ event: 'on_chain_end', run_id: runIdOf(1) })
    expect(own.map(({ event }) => event)).toContain('on_chat_model_stream')
    expect(own.filter(({ event, run_id }) => event === 'on_chain_stream' && run_id === runIdOf(1)))
      .toEqual([])
    expect(own.every(({ tags }) => !tags.includes('langsmith:hidden'))).toBe(true)
    expect(names(events).filter((name) => name === 'updates')).toEqual(['updates'])
  })
})

it('Updates and values are durable, events of other modes are not.', async () => {
  const ask = line(['a', 'b'], (name) => name === 'b' ? interrupt('?') : undefined)
  const events = await eventsOf(ask, { input: { log: [] },
    streamModes: ['values', 'updates', 'messages-tuple', 'custom', 'debug', 'tasks', 'checkpoints',
      'tools', 'events'] })
  for (const { name, durable } of events) {
    expect(durable).toBe(name === 'values' || name === 'updates')
  }
})

describe('events that the engine repeats when a run is resumed are sent once', () => {
  /** Two parallel nodes: `done`, and `held` that waits and fails when it is cut short. */
  function doneAndHeld() {
    let beside = Promise.withResolvers<void>()
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('done', () => ({}))
      .addNode('held', async () => {
        await beside.promise
        return {}
      })
      .addEdge(START, 'done').addEdge(START, 'held').compile()
    const cutOnceDone: RunOptions = { forget: true, onBatch: ({ events }) => {
      if (events.some(({ json }) => json.includes('done'))) beside.reject(new Error('cut'))
    } }
    const release = () => {
      beside = Promise.withResolvers()
      beside.resolve()
    }
    return { graph, cutOnceDone, release }
  }
  const emittedBy = (events: readonly StepEvent[]) =>
    events.map(data).map((update) => Object.keys(update as object))

  it('in a subgraph', async () => {
    const { graph: inner, cutOnceDone, release } = doneAndHeld()
    const graph = new StateGraph(MessagesAnnotation).addNode('sub', inner).addEdge(START, 'sub')
    const bench = new GraphBench(graph.compile())
    const options = { streamModes: ['updates'], streamSubgraphs: true }
    const { events: emitted } = await bench.run({ ...options, ...cutOnceDone, input: said('x') })
    expect(emittedBy(emitted)).toEqual([['done']])
    release()
    const { events } = await bench.run({ ...options, emitted })
    expect(emittedBy(events)).toEqual([['held'], ['sub']])
  })

  it('on a checkpoint that is named', async () => {
    const { graph, cutOnceDone, release } = doneAndHeld()
    const bench = new GraphBench(graph)
    await bench.run({ input: said('x'), interruptBefore: '*' })
    const options = { streamModes: ['updates'], config: { configurable: {
      checkpoint_id: bench.log.headId,
    } } }
    const { events: emitted } = await bench.run({ ...options, ...cutOnceDone })
    expect(emittedBy(emitted)).toEqual([['done']])
    release()
    const { events } = await bench.run({ ...options, emitted })
    expect(emittedBy(events)).toEqual([['held']])
  })
})

/** Events of protocol v2 that an execution makes: their order, their places, their data. */

import { AIMessageChunk } from '@langchain/core/messages'
import type { AIMessage } from '@langchain/core/messages'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { tool } from '@langchain/core/tools'
import { ChatGenerationChunk } from '@langchain/core/outputs'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode } from '@langchain/langgraph/prebuilt'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'

import { ProtocolEvents } from '../../../../src/graph/events/protocol-events.ts'
import { GraphBench } from '../../../support/graph-bench.ts'
import type { RunOptions } from '../../../support/graph-bench.ts'
import { echo, line, nested, nestedAsk, said, tokens } from '../../../support/small-graphs.ts'

interface Sent {
  readonly method: string
  readonly node: string
  readonly namespace: readonly string[]
  readonly data: Record<string, unknown>
}

/** The events of the thread, in order; a mark of a checkpoint has the method `checkpoint`. */
async function eventsOf(graph: unknown, options: RunOptions): Promise<Sent[]> {
  const { events } = await new GraphBench(graph).run({ ...options, threadEvents: true })
  return events.filter(({ name }) => name.startsWith('thread:')).map(({ name, json }) => {
    const [method = '', node = '', ...namespace] = name.slice('thread:'.length).split('|')
    return { method, node, namespace, data: JSON.parse(json) as Record<string, unknown> }
  })
}

/** In short; ids of tasks are left out. */
function lines(events: readonly Sent[], methods?: readonly string[]): string[] {
  return events.filter(({ method }) => methods?.includes(method) ?? true)
    .map(({ method, namespace, data }) =>
      [...namespace.map((part) => part.replace(/:.*/, ':')), method, data.event ?? '']
        .join(' ').trim()
    )
}

const call = { name: 'add', id: 'call-1', args: { a: 1, b: 2 } }

/** Asks for a tool in pieces, then answers in pieces. */
class Streaming extends FakeListChatModel {
  override async *_streamResponseChunks(
    ...[messages, , runManager]: Parameters<FakeListChatModel['_streamResponseChunks']>
  ) {
    const isAsked = messages.at(-1)?.getType() === 'tool'
    const pieces = isAsked
      ? ['the sum ', 'is 3'].map((content) => new AIMessageChunk({ id: 'two', content }))
      : ['{"a":', '1,"b"', ':2}'].map((args, i) =>
        new AIMessageChunk({ id: 'one', content: i === 0 ? 'let me see' : '',
          tool_call_chunks: [{ index: 0, args, ...i === 0 && { name: 'add', id: 'call-1' } }] })
      )
    for (const message of pieces) {
      const chunk = new ChatGenerationChunk({ text: String(message.content), message })
      yield chunk
      await runManager?.handleLLMNewToken('', undefined, undefined, undefined, undefined, { chunk })
    }
  }
  override bindTools() {
    return this as never
  }
}

const add = tool(({ a, b }: { a: number; b: number }) => String(a + b), { name: 'add',
  description: 'adds', schema: z.object({ a: z.number(), b: z.number() }) })

const agent = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }) => {
    const model = new Streaming({ responses: [''] })
    let answer: AIMessageChunk | undefined
    for await (const chunk of await model.stream(messages)) {
      answer = answer?.concat(chunk) ?? chunk
    }
    return { messages: [answer!] }
  })
  .addNode('tools', new ToolNode([add]))
  .addEdge(START, 'model')
  .addConditionalEdges('model',
    ({ messages }) => (messages.at(-1) as AIMessage).tool_calls?.length ? 'tools' : END)
  .addEdge('tools', 'model')
  .compile()

describe('a run', () => {
  it('has its states between what leads to them and what comes of them', async () => {
    const events = await eventsOf(line(['a', 'b']), { input: { log: ['in'] } })
    expect(lines(events)).toEqual(['checkpoint', 'tasks', 'updates', 'tasks', 'checkpoint', 'tasks',
      'updates', 'tasks', 'checkpoint'])
    expect(
      events.filter(({ method }) => method === 'updates').map(({ node, data }) => [node, data]),
    )
      .toEqual([['a', { node: 'a', values: { log: ['a'] } }], ['b', { node: 'b',
        values: { log: ['b'] } }]])
    expect(events.find(({ method }) => method === 'checkpoint')!.data)
      .toEqual({ id: expect.any(String), parent_id: expect.any(String), step: 0, source: 'loop' })
  })

  it('shows its own stream the same events as without', async () => {
    const streamModes = ['values', 'updates', 'messages-tuple', 'custom', 'tasks', 'debug']
    for (const graph of [nested, nestedAsk, echo]) {
      for (const streamSubgraphs of [false, true]) {
        const input = graph === echo ? said('hi') : { log: [] }
        const [plain, both] = await Promise.all([false, true].map(async (threadEvents) => {
          const options = { input, streamModes, streamSubgraphs, threadEvents }
          const { events, outcome } = await new GraphBench(graph).run(options)
          const shown = events.filter(({ name }) => !name.startsWith('thread:'))
          return { outcome: outcome.status, names: shown.map(({ name }) =>
            name.replaceAll(/:[-0-9a-f]+/g, '')
          ) }
        }))
        expect(both).toEqual(plain)
      }
    }
  })

  it('writes the same steps as without', async () => {
    const stepsOf = async (threadEvents: boolean) => {
      const { batches } = await new GraphBench(agent).run({ input: said('hi'), threadEvents,
        streamModes: ['messages-tuple'] })
      return batches.flatMap(({ steps }) => steps).map((
        { $case, value },
      ) => [$case, value.ns, 'changes' in value ? value.changes.map(({ channel }) => channel) : ''])
    }
    expect(await stepsOf(true)).toEqual(await stepsOf(false))
  })
})

describe('an answer', () => {
  it('is streamed at the namespace of its graph, with the id that the state has', async () => {
    const bench = new GraphBench(tokens)
    const { events } = await bench.run({ input: said('hi'), threadEvents: true })
    const messages = events.filter(({ name }) => name === 'thread:messages|model')
      .map(({ json }) => JSON.parse(json) as Record<string, unknown>)
    const { id } = (bench.log.values().messages as { id: string }[]).at(-1)!
    const own = { run_id: id, message_id: id }
    expect(messages[0]).toEqual({ event: 'message-start', ...own, role: 'ai', id })
    const text = messages.flatMap(({ delta }) => (delta as { text?: string })?.text ?? []).join('')
    expect(text).toBe('one two')
    expect(messages.slice(-2)).toEqual([
      { event: 'content-block-finish', ...own, index: 0,
        content: { type: 'text', text: 'one two' } },
      { event: 'message-finish', ...own },
    ])
    const order = events.map(({ name }) => name)
    expect(order.lastIndexOf('thread:messages|model'))
      .toBeLessThan(order.lastIndexOf('thread:checkpoint'))
  })

  it('that no model gives comes as a whole', async () => {
    const events = await eventsOf(echo, { input: said('hi') })
    expect(lines(events, ['messages'])).toEqual(['messages message-start',
      'messages content-block-start', 'messages content-block-delta',
      'messages content-block-finish', 'messages message-finish'])
  })

  it('repeats all arguments of a call that there are so far', async () => {
    const events = await eventsOf(agent, { input: said('hi') })
    const deltas = events.flatMap(({ data }) =>
      (data.delta as
        | { fields?: { args?: string } }
        | undefined)?.fields ?? []
    )
    expect(deltas).toEqual(
      ['{"a":', '{"a":1,"b"', '{"a":1,"b":2}'].map((args) => ({ type: 'tool_call_chunk',
        id: 'call-1', name: 'add', args })
      ),
    )
    expect(events.map(({ data }) => data.content)).toContainEqual({ type: 'tool_call', ...call })
    expect(JSON.stringify(events)).not.toContain('tool-call-delta')
  })
})

describe('a tool', () => {
  it('is at the namespace of its graph, and its result as a message', async () => {
    const events = await eventsOf(agent, { input: said('hi') })
    const tools = events.filter(({ method }) => method === 'tools')
    expect(tools.map(({ node, namespace }) => [node, namespace])).toEqual([['tools', []], ['tools',
      []]])
    expect(tools[0]!.data).toMatchObject({ event: 'tool-started', tool_call_id: 'call-1',
      tool_name: 'add' })
    expect(tools[1]!.data).toMatchObject({ event: 'tool-finished', tool_call_id: 'call-1',
      output: { type: 'tool', content: '3' } })
    const starts = events.filter(({ data }) => data.event === 'message-start')
    expect(starts.map(({ namespace, data }) => [namespace, data.role, data.tool_call_id]))
      .toEqual([[[], 'ai', undefined], [[], 'tool', 'call-1'], [[], 'ai', undefined]])
  })
})

describe('an answer and a tool in a graph in a graph', () => {
  /** Namespaces by what came there. */
  const places = (events: readonly Pick<Sent, 'method' | 'namespace' | 'data'>[]) =>
    events.filter(({ data }) =>
      data.event === 'tool-started' || data.event === 'message-start' ||
      data.event === 'message-finish'
    ).map(({ namespace, data }) => [namespace.join('|').replaceAll(/:[^|]*/g, ''), data.event])

  it('are at the namespace of that graph', async () => {
    const outer = new StateGraph(MessagesAnnotation).addNode('inside', agent)
      .addEdge(START, 'inside').compile()
    expect(places(await eventsOf(outer, { input: said('hi') }))).toEqual([
      ['inside', 'message-start'],
      ['inside', 'message-finish'],
      ['inside', 'tool-started'],
      ['inside', 'message-start'],
      ['inside', 'message-finish'],
      ['inside', 'message-start'],
      ['inside', 'message-finish'],
    ])
  })

  it('are there as well if the engine streams them there, as from 1.7.0 on', () => {
    const sent: { method: string; namespace: string[]; data: Record<string, unknown> }[] = []
    const events = new ProtocolEvents({ text: (value) => JSON.stringify(value), isExit: false,
      nowMs: () => 0, toolsAt: 'graph', notify: (event) => {
        if (typeof event === 'function') return
        const [method = '', , ...namespace] = event.name.slice('thread:'.length).split('|')
        sent.push({ method, namespace, data: JSON.parse(event.json) as Record<string, unknown> })
      } })
    const namespace = ['inside:1']
    events.chunk({ namespace, mode: 'messages',
      payload: [new AIMessageChunk({ id: 'one', content: 'hi' }), { langgraph_node: 'model',
        langgraph_checkpoint_ns: 'inside:1|model:2' }] })
    events.chunk({ namespace, mode: 'tasks', payload: { id: '2', name: 'model', result: {} } })
    events.chunk({ namespace, mode: 'tools',
      payload: { event: 'on_tool_start', name: 'add', toolCallId: 'call-1', input: '{}' } })
    expect(places(sent)).toEqual([['inside', 'message-start'], ['inside', 'message-finish'], [
      'inside',
      'tool-started',
    ]])
  })
})

describe('a graph in a graph', () => {
  it('begins and ends, and shows its own states', async () => {
    const events = await eventsOf(nested, { input: { log: ['in'] } })
    expect(lines(events, ['lifecycle', 'values', 'checkpoints'])).toEqual([
      'sub: checkpoints',
      'sub: lifecycle started',
      'sub: values',
      'sub: checkpoints',
      'sub: values',
      'sub: checkpoints',
      'sub: values',
      'sub: lifecycle completed',
    ])
  })

  it('that asks is interrupted', async () => {
    const events = await eventsOf(nestedAsk, { input: { log: [] } })
    expect(lines(events, ['lifecycle'])).toEqual(['sub: lifecycle started',
      'sub: lifecycle interrupted'])
  })

  it('that fails has failed, and what it said is void', async () => {
    const failing = line(['a'], () => {
      throw new Error('broken')
    })
    const outer = new StateGraph(MessagesAnnotation).addNode('sub', failing as never)
      .addEdge(START, 'sub').compile()
    const events = await eventsOf(outer, { input: said('hi') })
    expect(lines(events, ['lifecycle'])).toEqual(['sub: lifecycle started',
      'sub: lifecycle failed'])
  })
})

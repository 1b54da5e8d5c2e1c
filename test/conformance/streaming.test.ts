/** Streams through the official client: every mode, the order of events, and failure. */

import { describe, expect, it } from 'vitest'
import { collect, dataOf, namesOf, say } from '../support/run-events.ts'
import type { Part } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'

const server = useServer()

interface Stream {
  readonly threadId: string
  readonly parts: Part[]
}

/** Runs the graph on a new thread and collects its stream. */
async function streamOf(graphId: string, input: Record<string, unknown>,
  streamMode: string | string[], payload: object = {}): Promise<Stream> {
  const { thread_id: threadId } = await server.client.threads.create()
  const stream = server.client.runs.stream(threadId, graphId, {
    input,
    streamMode: streamMode as 'values',
    ...payload,
  })
  return { threadId, parts: await collect(stream) }
}

describe('every stream', () => {
  it('begins with metadata that names the run', async () => {
    const { threadId, parts } = await streamOf('echo', say('x'), 'updates')
    const [run] = await server.client.runs.list(threadId)
    expect(parts[0]).toMatchObject({
      event: 'metadata',
      data: { run_id: run!.run_id, attempt: 1 },
    })
    expect(parts.slice(1).map(({ event }) => event)).not.toContain('metadata')
  })

  it('has values by default', async () => {
    const { thread_id: id } = await server.client.threads.create()
    const parts = await collect(server.client.runs.stream(id, 'steps', { input: { topic: 't' } }))
    expect(namesOf(parts)).toEqual(['metadata', 'values'])
  })

  it('has values if it is asked for an empty list of modes', async () => {
    const { parts } = await streamOf('steps', { topic: 't' }, [])
    expect(namesOf(parts)).toEqual(['metadata', 'values'])
  })

  it('has an increasing id on each event', async () => {
    const { parts } = await streamOf('steps', { topic: 't' }, ['updates', 'values'])
    const ids = parts.map(({ id }) => id)
    expect(ids.every((id) => typeof id === 'string' && id !== '')).toBe(true)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('lets the client know the run before the first event', async () => {
    const { thread_id: id } = await server.client.threads.create()
    const created: object[] = []
    const parts = await collect(server.client.runs.stream(id, 'echo', {
      input: say('x'),
      onRunCreated: (run) => created.push(run),
    }))
    expect(created).toEqual([
      { thread_id: id, run_id: (parts[0]!.data as { run_id: string }).run_id },
    ])
  })
})

describe('the mode values', () => {
  it('streams the whole state after the input and after each superstep', async () => {
    const { parts } = await streamOf('steps', { topic: 't' }, 'values')
    expect(dataOf(parts, 'values')).toEqual([
      { topic: 't', log: [] },
      { topic: 't', log: ['a:t'] },
      { topic: 't', log: ['a:t', 'b:t'] },
      { topic: 't', log: ['a:t', 'b:t', 'c:t'] },
    ])
  })
})

describe('the mode updates', () => {
  it('streams what each node wrote', async () => {
    const { parts } = await streamOf('steps', { topic: 't' }, 'updates')
    expect(parts.slice(1)).toMatchObject([
      { event: 'updates', data: { a: { log: ['a:t'] } } },
      { event: 'updates', data: { b: { log: ['b:t'] } } },
      { event: 'updates', data: { c: { log: ['c:t'] } } },
    ])
  })

  it('streams each task of a superstep separately', async () => {
    const { parts } = await streamOf('fanout', { words: ['a', 'b', 'c'] }, 'updates')
    expect(dataOf(parts, 'updates')).toHaveLength(3)
    expect(dataOf(parts, 'updates')).toEqual(expect.arrayContaining([
      { shout: { loud: ['A'] } },
      { shout: { loud: ['B'] } },
      { shout: { loud: ['C'] } },
    ]))
  })

  it('combines with values, each after the update that it contains', async () => {
    const { parts } = await streamOf('steps', { topic: 't' }, ['values', 'updates'])
    expect(parts.map(({ event }) => event)).toEqual(['metadata', 'values', 'updates', 'values',
      'updates', 'values', 'updates', 'values'])
  })
})

describe('the mode messages-tuple', () => {
  type Tuple = [{ content: string; id: string; type: string }, Record<string, unknown>]

  it('streams each token with its origin', async () => {
    const { threadId, parts } = await streamOf('tokens', say('x'), 'messages-tuple')
    const tuples = dataOf<Tuple>(parts, 'messages')
    expect(tuples.map(([chunk]) => chunk.content).join('')).toBe('one two three')
    expect(tuples.length).toBeGreaterThan(3)
    expect(new Set(tuples.map(([chunk]) => chunk.id)).size).toBe(1)
    expect(tuples[0]![0].type).toMatch(/^(ai|AIMessageChunk)$/)
    expect(tuples[0]![1]).toMatchObject({
      langgraph_node: 'model',
      langgraph_step: 1,
      thread_id: threadId,
      graph_id: 'tokens',
      run_id: (parts[0]!.data as { run_id: string }).run_id,
      run_attempt: 1,
    })
  })

  it('streams a message that a node wrote without a model once, as a whole', async () => {
    const { parts } = await streamOf('echo', say('x'), 'messages-tuple')
    expect(dataOf<Tuple>(parts, 'messages').map(([message]) => message.content))
      .toEqual(['echo: x'])
  })
})

describe('the mode messages', () => {
  type Messages = { content: string; type: string }[]

  it('streams the earlier messages, then the growing one, then the complete one', async () => {
    const { parts } = await streamOf('tokens', say('x'), 'messages')
    expect(namesOf(parts)).toEqual(['metadata', 'messages/complete', 'messages/metadata',
      'messages/partial', 'messages/complete'])
    const partial = dataOf<Messages>(parts, 'messages/partial').map(([message]) => message!.content)
    expect(partial.at(-1)).toBe('one two three')
    for (const [at, text] of partial.slice(1).entries()) {
      expect(text.startsWith(partial[at]!)).toBe(true)
    }
    const complete = dataOf<Messages>(parts, 'messages/complete')
    expect(complete.map((messages) => messages.map(({ content }) => content)))
      .toEqual([['x'], ['one two three']])
    const [metadata] = dataOf<Record<string, { metadata: object }>>(parts, 'messages/metadata')
    expect(Object.values(metadata!)[0]!.metadata).toMatchObject({ langgraph_node: 'model' })
  })
})

describe('the mode custom', () => {
  it('streams what the node wrote to its writer', async () => {
    const { parts } = await streamOf('custom', { topic: 't' }, 'custom')
    expect(parts.slice(1).map(({ event, data }) => [event, data])).toEqual(
      [1, 2, 3].map((part) => ['custom', { topic: 't', part }]),
    )
  })

  it('has events of subgraphs under the plain name if those are not asked for', async () => {
    const { parts } = await streamOf('nested', { topic: 't' }, 'custom')
    expect(parts.slice(1)).toMatchObject([{ event: 'custom', data: { from: 'deep' } }])
  })
})

describe('the mode tasks', () => {
  it('streams the begin and the end of each task', async () => {
    const { parts } = await streamOf('counter', { by: 1 }, 'tasks')
    const [begun, ended] = dataOf(parts, 'tasks')
    expect(begun).toMatchObject({ id: expect.any(String), name: 'add', input: { by: 1, total: 0 },
      triggers: ['branch:to:add'], interrupts: [] })
    expect(ended).toMatchObject({ id: begun!['id'], name: 'add', result: { total: 1 },
      interrupts: [] })
  })
})

describe('the mode checkpoints', () => {
  it('streams each checkpoint', async () => {
    const { parts } = await streamOf('counter', { by: 1 }, 'checkpoints')
    expect(dataOf(parts, 'checkpoints')).toMatchObject([
      { values: { total: 0 }, metadata: { source: 'input', step: -1 }, next: ['__start__'] },
      { values: { by: 1, total: 0 }, metadata: { source: 'loop', step: 0 }, next: ['add'] },
      { values: { by: 1, total: 1 }, metadata: { source: 'loop', step: 1 }, next: [] },
    ])
  })
})

describe('the mode debug', () => {
  it('streams checkpoints, tasks and their results, step by step', async () => {
    const { threadId, parts } = await streamOf('counter', { by: 1 }, 'debug')
    const seen = dataOf<{ step: number; type: string; payload: object }>(parts, 'debug')
    expect(seen.map(({ step, type }) => [step, type])).toEqual([
      [-1, 'checkpoint'],
      [0, 'checkpoint'],
      [1, 'task'],
      [1, 'task_result'],
      [1, 'checkpoint'],
    ])
    expect(seen[1]!.payload).toMatchObject({
      values: { by: 1, total: 0 },
      next: ['add'],
      tasks: [{ name: 'add' }],
      metadata: { source: 'loop' },
      checkpoint: { thread_id: threadId, checkpoint_ns: '' },
    })
    expect(seen[2]!.payload).toMatchObject({ name: 'add', input: { by: 1, total: 0 } })
  })
})

describe('the mode events', () => {
  it('streams the events of the run and its nodes', async () => {
    const { parts } = await streamOf('counter', { by: 1 }, 'events')
    const seen = dataOf<{ event: string; name: string }>(parts, 'events')
    expect(seen.map(({ event, name }) => [event, name])).toEqual(expect.arrayContaining([
      ['on_chain_start', 'add'],
      ['on_chain_end', 'add'],
    ]))
    expect(seen[0]).toMatchObject({ event: 'on_chain_start', data: { input: { by: 1 } } })
    expect(seen.at(-1)).toMatchObject({
      event: 'on_chain_end',
      data: { output: { by: 1, total: 1 } },
    })
  })

  it('streams the tokens of a model', async () => {
    const { parts } = await streamOf('tokens', say('x'), 'events')
    const chunks = dataOf<{ event: string; data: { chunk: { content: string } } }>(parts, 'events')
      .filter(({ event }) => event === 'on_chat_model_stream')
    expect(chunks.map(({ data }) => data.chunk.content).join('')).toBe('one two three')
  })

  it('combines with other modes', async () => {
    const { parts } = await streamOf('counter', { by: 1 }, ['events', 'updates', 'values'])
    expect(dataOf(parts, 'updates')).toEqual([{ add: { total: 1 } }])
    expect(dataOf(parts, 'values').at(-1)).toEqual({ by: 1, total: 1 })
    expect(dataOf(parts, 'events').length).toBeGreaterThan(0)
  })
})

describe('the stream of a run that fails', () => {
  it('ends with an error event of the documented shape', async () => {
    const { threadId, parts } = await streamOf('failing', { topic: 'bad' }, 'updates')
    expect(parts.slice(1)).toMatchObject([
      { event: 'updates', data: { a: { log: ['a'] } } },
      { event: 'error', data: { error: 'TypeError', message: 'bad' } },
    ])
    expect(await server.client.threads.get(threadId)).toMatchObject({ status: 'error' })
  })

  it('ends with an error event at the recursion limit too', async () => {
    const { parts } = await streamOf('endless', { topic: 't' }, 'updates', {
      config: { recursion_limit: 2 },
    })
    expect(namesOf(parts)).toEqual(['metadata', 'updates', 'error'])
    expect(parts.at(-1)!.data).toMatchObject({ error: 'GraphRecursionError' })
  })
})

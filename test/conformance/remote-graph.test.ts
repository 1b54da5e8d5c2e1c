/** RemoteGraph of the official library on this server, alone and as a node of another graph. */

import { Annotation, Command, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { RemoteGraph } from '@langchain/langgraph/remote'
import { describe, expect, it } from 'vitest'
import { texts } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'

const server = useServer()
const remote = (graphId: string) => new RemoteGraph({ graphId, client: server.client })
const newConfig = async () => ({
  configurable: { thread_id: (await server.client.threads.create()).thread_id },
})

describe('a remote graph', () => {
  it('is invoked without a thread', async () => {
    expect(await remote('steps').invoke({ topic: 't' }))
      .toEqual({ topic: 't', log: ['a:t', 'b:t', 'c:t'] })
  })

  it('streams updates and values', async () => {
    const modes: unknown[] = []
    for await (const [mode, data] of await remote('steps').stream({ topic: 't' }, {
      streamMode: ['updates', 'values'],
    })) modes.push([mode, data])
    expect(modes).toHaveLength(7)
    expect(modes.at(-1)).toEqual(['values', { topic: 't', log: ['a:t', 'b:t', 'c:t'] }])
  })

  it('streams the events of subgraphs with their namespace', async () => {
    const namespaces: string[][] = []
    for await (const [namespace] of await remote('nested').stream({ topic: 't' }, {
      streamMode: 'updates',
      subgraphs: true,
    })) namespaces.push(namespace as string[])
    expect(namespaces).toEqual([[], [expect.stringMatching(/^sub:/)], []])
  })

  it('shows and changes the state of its thread', async () => {
    const config = await newConfig()
    const graph = remote('steps')
    await graph.invoke({ topic: 't' }, config)
    const state = await graph.getState(config)
    expect(state).toMatchObject({
      values: { topic: 't', log: ['a:t', 'b:t', 'c:t'] },
      next: [],
      config: { configurable: { ...config.configurable, checkpoint_ns: '' } },
    })
    const updated = await graph.updateState(config, { topic: 'new' }, 'a')
    expect(updated.configurable).toMatchObject(config.configurable)
    expect((await graph.getState(config)).next).toEqual(['b'])
    const history = []
    for await (const entry of graph.getStateHistory(config, { limit: 3 })) history.push(entry)
    expect(history).toHaveLength(3)
    expect(history[1]!.config.configurable?.['checkpoint_id'])
      .toBe(state.config.configurable?.['checkpoint_id'])
  })

  it('throws its interrupt, and is resumed by a command', async () => {
    const config = await newConfig()
    const graph = remote('ask')
    await expect(graph.invoke({ question: 'q' }, config))
      .rejects.toMatchObject({ name: 'GraphInterrupt', interrupts: [{ value: { question: 'q' } }] })
    expect(await graph.invoke(new Command({ resume: 'yes' }), config))
      .toMatchObject({ answers: ['yes', 'after'] })
  })

  it('throws what the graph threw', async () => {
    await expect(remote('failing').invoke({ topic: 'bad luck' })).rejects.toThrow(/bad luck/)
  })

  it('shows its drawing', async () => {
    const graph = await remote('jump').getGraphAsync()
    expect(Object.keys(graph.nodes)).toEqual(expect.arrayContaining(['choose', 'left', 'right']))
  })

  it('is a node of another graph', async () => {
    const State = Annotation.Root({ ...MessagesAnnotation.spec })
    const graph = new StateGraph(State)
      .addNode('far', remote('echo'))
      .addEdge(START, 'far')
      .compile()
    const values = await graph.invoke({ messages: [{ role: 'user', content: 'hello' }] })
    expect(texts(values).at(-1)).toBe('echo: hello')
  })
})

/** Stream transformers that a graph was compiled with, over the events that followers get. */

import { AIMessage } from '@langchain/core/messages'
import { END, MessagesAnnotation, START, StateGraph, StreamChannel } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'

import { GraphBench } from '../../../support/graph-bench.ts'
import { said } from '../../../support/small-graphs.ts'

type Transformer = ReturnType<NonNullable<Parameters<typeof graphWith>[0][number]>>

function graphWith(transformers: NonNullable<
  NonNullable<Parameters<StateGraph<typeof MessagesAnnotation>['compile']>[0]>['transformers']
>) {
  return new StateGraph(MessagesAnnotation)
    .addNode('echo', () => ({ messages: [new AIMessage({ id: 'a', content: 'heard' })] }))
    .addEdge(START, 'echo')
    .addEdge('echo', END)
    .compile({ transformers })
}

/** `method data` of the events of the thread. */
async function eventsOf(graph: unknown) {
  const { events, outcome } = await new GraphBench(graph).run({ input: said('hello'),
    threadEvents: true })
  const sent = events.filter(({ name }) => name.startsWith('thread:')).map(({ name, json }) => ({
    method: name.slice('thread:'.length).split('|')[0]!,
    data: JSON.parse(json) as Record<string, unknown>,
  }))
  return { sent, custom: sent.filter(({ method }) => method === 'custom').map(({ data }) => data),
    outcome }
}

describe('a stream transformer', () => {
  it('sends what it pushes into a channel with a name, and what it knows at the end', async () => {
    const { custom, sent } = await eventsOf(graphWith([(): Transformer => {
      const counts = StreamChannel.remote<number>('counts')
      const local = StreamChannel.local<string>()
      const total = Promise.withResolvers<number>()
      let seen = 0
      return {
        init: () => ({ counts, local, total: total.promise }),
        process: ({ method }) => {
          if (method === 'updates') counts.push(++seen)
          local.push(method)
          return true
        },
        finalize: () => total.resolve(seen),
      }
    }]))
    expect(custom).toEqual([{ name: 'counts', payload: 1 }, { name: 'total', payload: 1 }])
    expect(sent.map(({ method }) => method)).toContain('updates')
  })

  it('may keep events back, and add some', async () => {
    const { sent } = await eventsOf(graphWith([(): Transformer => {
      let add: ((namespace: string[], event: never) => void) | undefined
      return {
        init: () => ({}),
        onRegister: ({ push }) => {
          add = push as never
        },
        process: ({ method }) => {
          if (method !== 'tasks') return true
          add?.(['tools:x'],
            { type: 'event', seq: 0, method: 'custom',
              params: { namespace: ['tools:x'], timestamp: 0, data: { payload: 1 } } } as never)
          return false
        },
      }
    }]))
    const methods = sent.map(({ method }) => method)
    expect(methods).not.toContain('tasks')
    expect(methods).toContain('custom')
  })

  it('sees the states of the root, which followers get in any case', async () => {
    const states: unknown[] = []
    const { sent } = await eventsOf(graphWith([(): Transformer => ({
      init: () => ({}),
      process: ({ method, params }) => {
        if (method === 'values') states.push(params.data)
        return method !== 'values'
      },
    })]))
    expect(states.length).toBeGreaterThan(0)
    expect(sent.filter(({ method }) => method === 'checkpoint').length).toBeGreaterThan(0)
  })

  it('that throws ends no run, and events go on', async () => {
    let failed: unknown
    const { sent, outcome } = await eventsOf(graphWith([(): Transformer => ({
      init: () => ({}),
      process: () => {
        throw new Error('broken')
      },
      fail: (reason) => {
        failed = reason
      },
    })]))
    expect(outcome.status).toBe('success')
    expect(String(failed)).toContain('broken')
    expect(sent.map(({ method }) => method)).toContain('updates')
  })

  it('whose last value never comes holds up no run', async () => {
    const { custom, outcome } = await eventsOf(graphWith([(): Transformer => ({
      init: () => ({ never: new Promise<number>(() => {}) }),
      process: () => true,
    })]))
    expect(outcome.status).toBe('success')
    expect(custom).toEqual([])
  })
})

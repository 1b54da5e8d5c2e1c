/** Tasks that throw: what their events say, and what is kept of the place in the project. */

import * as langgraph from '@langchain/langgraph'
import { Annotation, interrupt, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'

import { framesIn, noteThrown, withPlace } from '../../../../src/graph/project/code-place.ts'
import { keepThrown } from '../../../../src/graph/project/thrown.ts'
import { GraphBench } from '../../../support/graph-bench.ts'
import type { Ran } from '../../../support/graph-bench.ts'

// As a worker does when it starts.
keepThrown(langgraph)

const State = Annotation.Root({ word: Annotation<string>() })
const fails = () => {
  throw new TypeError('no such word')
}

/** `[mode, event, name]` of all events about tasks. */
const emitted = ({ events }: Ran) =>
  events.map(({ name, json }) => ({ mode: name.split('|')[0]!, name, json }))
    .filter(({ mode }) => mode === 'tasks-lean' || mode === 'lifecycle')
    .map(({ mode, json }) => {
      const { event, name, error } = JSON.parse(json) as Record<string, unknown>
      return [mode, event, name ?? error]
    })

describe('a task that threw', () => {
  it.each(['sync', 'async', 'exit'] as const)('has failed, durability %s', async (durability) => {
    const graph = new StateGraph(State).addNode('good', () => ({})).addNode('bad', fails)
      .addEdge(START, 'good').addEdge('good', 'bad').compile()
    const ran = await new GraphBench(graph).run({ input: { word: 'w' }, durability,
      streamModes: ['tasks-lean'] })
    expect(ran.outcome.status).toBe('error')
    expect(emitted(ran).map(([, event, name]) => [name, event])).toEqual([['good', 'started'], [
      'good',
      'completed',
    ], ['bad', 'started'], ['bad', 'failed']])
  })

  it('lets the subgraph fail that it is in, and the task that called that', async () => {
    const inner = new StateGraph(State).addNode('bad', fails).addEdge(START, 'bad').compile()
    const graph = new StateGraph(State).addNode('sub', inner).addEdge(START, 'sub').compile()
    const ran = await new GraphBench(graph).run({ input: { word: 'w' }, streamSubgraphs: true,
      streamModes: ['tasks-lean', 'lifecycle'] })
    const failure = { error: 'TypeError', message: 'no such word' }
    expect(emitted(ran)).toEqual([['tasks-lean', 'started', 'sub'], ['lifecycle', 'started',
      undefined], ['tasks-lean', 'started', 'bad'], ['tasks-lean', 'failed', 'bad'], ['lifecycle',
      'failed', failure], ['tasks-lean', 'failed', 'sub']])
  })

  it('and was tried again with success has completed; one that asks has not failed', async () => {
    let tries = 0
    const graph = new StateGraph(State)
      .addNode('shaky', () => {
        if (tries++ === 0) fails()
        return {}
      }, { retryPolicy: { maxAttempts: 2, initialInterval: 1, jitter: false, logWarning: false } })
      .addNode('asks', () => ({ word: interrupt('which?') as string }))
      .addEdge(START, 'shaky').addEdge('shaky', 'asks').compile()
    for (const durability of ['async', 'exit'] as const) {
      tries = 0
      const ran = await new GraphBench(graph).run({ input: { word: 'w' }, durability,
        streamModes: ['tasks-lean'] })
      expect(emitted(ran).map(([, event, name]) => [name, event])).toEqual([['shaky', 'started'], [
        'shaky',
        'completed',
      ], ['asks', 'started'], ['asks', 'interrupted']])
    }
  })
})

describe('the place of an error', () => {
  const stack = 'TypeError: no\n    at plan (/srv/app/src/plan.ts:3:7)\n' +
    '    at Object.<anonymous> (file:///srv/app/src/agent.ts:9:1)\n' +
    '    at call (/srv/app/node_modules/@langchain/langgraph/dist/a.js:1:1)\n' +
    '    at get (/srv/app/node_modules/shop/index.js:2:2)\n' +
    '    at process.processTicks (node:internal/process/task_queues:1:1)\n' +
    '    at other (/srv/application/x.ts:1:1)'
  const frames = 'at plan (src/plan.ts:3:7)\nat Object.<anonymous> (src/agent.ts:9:1)\n' +
    'at get (node_modules/shop/index.js:2:2)'

  it('has paths of the project, without the engine and the machine', () => {
    expect(framesIn('/srv/app', stack)).toBe(frames)
    expect(framesIn('/srv/app', '')).toBe('')
    expect(framesIn('/srv/app', Array.from({ length: 99 }, () => stack).join('\n')).split('\n'))
      .toHaveLength(30)
  })

  it('is stored beside its name and message, if it is known', () => {
    const error = Object.assign(new TypeError('no'), { stack })
    noteThrown(error, {})
    const stored = { name: 'TypeError', message: 'no' }
    expect(withPlace(stored, '/srv/app')).toEqual({ ...stored, stack: frames })
    expect(withPlace(stored, undefined)).toEqual(stored)
    expect(withPlace({ name: 'TypeError', message: 'another' }, '/srv/app'))
      .toEqual({ name: 'TypeError', message: 'another' })
    expect(withPlace(null, '/srv/app')).toBeNull()
  })
})

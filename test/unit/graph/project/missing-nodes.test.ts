/** A thread that waits at a node which its graph does not have any more. */

import { Annotation, START, Send, StateGraph, interrupt } from '@langchain/langgraph'
import { expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { requireNext } from '../../../../src/graph/project/missing-nodes.ts'
import { GraphBench } from '../../../support/graph-bench.ts'

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (kept, more) => kept.concat(more), default: () => [] }),
})

const asks = () => ({ log: [interrupt<string, string>('sure?')] })
const quiet = () => ({ log: [] })

/** By edge, by a join, and by a Send. */
const shapes: readonly [string, (name: string) => unknown][] = [
  ['an edge', (name) =>
    new StateGraph(State).addNode('a', quiet).addNode(name, asks)
      .addEdge(START, 'a').addEdge('a', name as 'a').compile()],
  ['a join', (name) =>
    new StateGraph(State).addNode('a', quiet).addNode('b', quiet)
      .addNode(name, asks).addEdge(START, 'a').addEdge(START, 'b')
      .addEdge(['a', 'b'], name as 'a').compile()],
  ['a Send', (name) =>
    new StateGraph(State).addNode('a', quiet).addNode(name, asks)
      .addEdge(START, 'a').addConditionalEdges('a', () => [new Send(name, { log: [] })]).compile()],
]

it.each(shapes)('is refused an answer, keeps its question, and continues once it is back: %s',
  async (_, graph) => {
    const bench = new GraphBench(graph('ask'))
    const asked = await bench.run({ input: { log: ['in'] } })
    const renamed = Object.assign(new GraphBench(graph('question')), { log: bench.log })
    const before = bench.log.writes.length
    for (const options of [{ command: { resume: 'yes' } }, { input: null }, {
      command: { resume: 'yes', update: { log: ['x'] } },
    }]) {
      const { outcome } = await renamed.run(options)
      expect(outcome).toMatchObject({ status: 'error', waiting: true,
        interrupts: asked.outcome.interrupts,
        error: { message: expect.stringMatching('waits at "ask"') } })
    }
    expect(bench.log.writes).toHaveLength(before)
    const back = Object.assign(new GraphBench(graph('ask')), { log: bench.log })
    expect((await back.run({ command: { resume: 'yes' } })).outcome)
      .toMatchObject({ status: 'success', waiting: false })
    expect(bench.log.values().log).toEqual(['in', 'yes'])
  })

it('A command that names no node of the graph leaves the question of the thread.', async () => {
  const bench = new GraphBench(shapes[0]![1]('ask'))
  const { outcome: { interrupts } } = await bench.run({ input: { log: [] } })
  const { outcome } = await bench.run({ command: { goto: 'constructor' } })
  expect(outcome).toMatchObject({ status: 'error', waiting: true, interrupts })
})

it.each(shapes)('takes new input all the same: %s', async (_, graph) => {
  const bench = new GraphBench(graph('ask'))
  await bench.run({ input: { log: [] } })
  const renamed = Object.assign(new GraphBench(graph('question')), { log: bench.log })
  const { outcome } = await renamed.run({ input: { log: [] } })
  expect(outcome).toMatchObject({ status: 'success', waiting: true })
  expect((await renamed.run({ command: { resume: 'yes' } })).outcome)
    .toMatchObject({ status: 'success', waiting: false })
})

it('A join that waits for others, and channels of the state, name no next node.', () => {
  const held: Record<string, unknown> = { 'join:a+b:gone': ['a'], log: ['branch:to:gone'],
    __pregel_tasks: [], 'branch:to:here': '__start__' }
  const channels = { names: Object.keys(held), valueOf: (name: string) => held[name] }
  expect(() => requireNext(channels, ['here'])).not.toThrow()
  expect(() => requireNext(channels, [])).toThrow(HeddleError)
})

/** The subgraphs of a run that the records of its log name, and how each of them stands. */

import { Annotation, interrupt, StateGraph } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'

import type { RecordOf } from '../../../../src/checkpoint/index.ts'
import { GraphFold, subgraphsMax } from '../../../../src/thread/model/graph-fold.ts'
import { GraphBench } from '../../../support/graph-bench.ts'
import type { RunOptions } from '../../../support/graph-bench.ts'

const started = (runId = 'r') => ({ $case: 'runStarted', value: { runId } }) as RecordOf
const put = (ns: string, runId = 'r') => ({ $case: 'checkpoint', value: { ns, runId } }) as RecordOf
const wrote = (ns: string, taskId: string, ...channels: string[]) =>
  ({ $case: 'writes',
    value: { ns, taskId, writes: channels.map((channel) => ({ channel })) } }) as RecordOf

function statuses(...records: RecordOf[]) {
  const fold = new GraphFold('r', false)
  fold.take([started(), ...records])
  return Object.fromEntries(fold.answer.graphs.map(({ ns, status }) => [ns, status]))
}

it('a subgraph runs from its first checkpoint, until its task has written', () => {
  expect(statuses(put(''), put('a:1'))).toEqual({ 'a:1': 'running' })
  expect(statuses(put('a:1'), wrote('', '1', 'messages'))).toEqual({ 'a:1': 'completed' })
  expect(statuses(put('a:1'), wrote('', '1', '__interrupt__'))).toEqual({ 'a:1': 'interrupted' })
  expect(statuses(put('a:1'), wrote('', '1', 'x', '__error__'))).toEqual({ 'a:1': 'failed' })
  expect(statuses(put('a:1'), wrote('a:1', '1', 'x'), wrote('', '2', 'x')))
    .toEqual({ 'a:1': 'running' })
})

it('a checkpoint of the graph around them ends those that run, and no others', () => {
  expect(statuses(put('a:1'), put('a:1|b:2'), put('memory'), put('a:1')))
    .toEqual({ 'a:1': 'running', 'a:1|b:2': 'completed', memory: 'running' })
  expect(statuses(put('a:1'), put('memory'), wrote('', '1', '__interrupt__'), put('')))
    .toEqual({ 'a:1': 'interrupted', memory: 'completed' })
})

it('a subgraph that goes on after an answer runs again', () => {
  expect(statuses(put('a:1'), wrote('', '1', '__interrupt__'), put('a:1')))
    .toEqual({ 'a:1': 'running' })
})

it('what other runs wrote in the same rows does not count', () => {
  const fold = new GraphFold('r', false)
  fold.take([put('a:1', 'before'), wrote('', '2', '__error__'), started(), put('b:2')])
  fold.take([started('after'), put('c:3', 'after'), wrote('', '2', '__error__')])
  expect(fold.answer).toEqual({ graphs: [{ ns: 'b:2', status: 'running' }], isCut: false })
})

it('a run that had begun before is its own from the first record on, and is cut', () => {
  const fold = new GraphFold('r', true)
  fold.take([put('a:1'), wrote('', '1', 'x')])
  expect(fold.answer).toEqual({ graphs: [{ ns: 'a:1', status: 'completed' }], isCut: true })
})

it('those beyond the bound are left out, and the answer says so', () => {
  const fold = new GraphFold('r', false)
  fold.take([started(), ...Array.from({ length: subgraphsMax }, (_, at) => put(`a:${at}`))])
  expect(fold.answer.isCut).toBe(false)
  fold.take([put('b:1'), wrote('', '0', 'x')])
  expect(fold.answer.graphs.length).toBe(subgraphsMax)
  expect(fold.answer.graphs[0]).toEqual({ ns: 'a:0', status: 'completed' })
  expect(fold.answer.isCut).toBe(true)
})

describe('of a run of the engine', () => {
  const State = Annotation.Root({
    log: Annotation<string[]>({ reducer: (kept, more) => kept.concat(more), default: () => [] }),
  })
  type Node = (state: typeof State.State) => typeof State.Update
  const around = (name: string, node: unknown) =>
    new StateGraph(State).addNode(name, node as Node).addEdge('__start__', name as never)
  const quiet: Node = () => ({ log: [] })
  const asks: Node = () => ({ log: [interrupt<string, string>('sure?')] })
  const fails: Node = () => {
    throw new Error('broken')
  }

  /** Without the ids of tasks. */
  async function statusesIn(graph: unknown, bench = new GraphBench(graph),
    options: RunOptions = { input: { log: [] } }) {
    const { batches } = await bench.run(options)
    const records = batches.flatMap(({ steps }) => steps).map((step) =>
      ({ ...step, value: { ...step.value, runId: 'r' } }) as RecordOf
    )
    return Object.fromEntries(
      Object.entries(statuses(...records)).map((
        [ns, status],
      ) => [ns.replaceAll(/:[^|]*/g, ''), status]),
    )
  }

  it('all that have ended are known, at each depth', async () => {
    const deep = around('b', around('leaf', quiet).compile()).compile()
    const graph = around('a', deep).addNode('last', around('leaf', quiet).compile())
      .addEdge('a' as never, 'last' as never).compile()
    expect(await statusesIn(graph)).toEqual({ a: 'completed', 'a|b': 'completed',
      last: 'completed' })
    expect(await statusesIn(around('a', around('leaf', quiet).compile({ checkpointer: true }))
      .compile())).toEqual({ a: 'completed' })
  })

  it('those that ask or fail are known from those beside them', async () => {
    const graph = around('done', around('leaf', quiet).compile())
      .addNode('asking', around('leaf', asks).compile()).addEdge('__start__', 'asking' as never)
      .compile()
    const bench = new GraphBench(graph)
    expect(await statusesIn(graph, bench)).toEqual({ done: 'completed', asking: 'interrupted' })
    expect(await statusesIn(graph, bench, { command: { resume: 'yes' } }))
      .toEqual({ asking: 'completed' })
    expect(await statusesIn(around('a', around('leaf', fails).compile()).compile()))
      .toEqual({ a: 'failed' })
  })
})

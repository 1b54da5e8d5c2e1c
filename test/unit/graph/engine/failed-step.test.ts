/** A step that failed as a whole leaves a thread that can be read, changed and run again. */

import { Annotation, DeltaChannel, START, StateGraph } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'

import type { SnapshotAnswer } from '../../../../src/graph/execution.ts'
import { GraphBench } from '../../../support/graph-bench.ts'

interface Shown {
  readonly next: string[]
  readonly tasks: { id: string; name: string; error: string | null; result: unknown }[]
  readonly checkpoint: { readonly checkpoint_id: string }
}

const read = ({ json }: SnapshotAnswer) => JSON.parse(json) as Shown

const Plain = Annotation.Root({ word: Annotation<string>() })

/** Two nodes write one plain channel in the same step. */
const conflict = () =>
  new StateGraph(Plain)
    .addNode('a', () => ({ word: 'from a' })).addNode('b', () => ({ word: 'from b' }))
    .addEdge(START, 'a').addEdge(START, 'b').compile()

const unkind = (kept: string[], more: string[]) => {
  if (more.includes('bad')) throw new RangeError('not that')
  return kept.concat(more)
}

const Reduced = Annotation.Root({
  word: Annotation<string>(),
  log: Annotation<string[]>({ reducer: unkind, default: () => [] }),
})

/** The reducer throws at what one of two nodes returns. */
const reducer = () =>
  new StateGraph(Reduced)
    .addNode('a', () => ({ log: ['bad'] })).addNode('b', () => ({ log: ['fine'] }))
    .addEdge(START, 'a').addEdge(START, 'b').compile()

/** The same with a channel that keeps no values but the writes that make them. */
const delta = () =>
  new StateGraph(Annotation.Root({
    word: Annotation<string>(),
    log: () =>
      new DeltaChannel<string[], string[]>((kept, sets) => sets.reduce(unkind, kept ?? []),
        { initialValueFactory: () => [] } as never),
  }) as unknown as typeof Reduced)
    .addNode('a', () => ({ log: ['bad'] })).addNode('b', () => ({ log: ['fine'] }))
    .addEdge(START, 'a').addEdge(START, 'b').compile()

/** One of them inside of a subgraph. */
const inner = () =>
  new StateGraph(Plain)
    .addNode('sub', conflict()).addEdge(START, 'sub').compile()

const flat = [['conflict', conflict, 'InvalidUpdateError'], ['reducer', reducer, 'RangeError'], [
  'delta',
  delta,
  'RangeError',
]] as const

describe.each(flat)('After a step that failed (%s)', (kind, graph, name) => {
  it('the state shows the last checkpoint, what comes next, and the error', async () => {
    const bench = new GraphBench(graph())
    const { outcome } = await bench.run({ input: { word: 'in' } })
    expect(outcome).toMatchObject({ status: 'error', waiting: true, error: { error: name } })
    for (const subgraphs of [false, true]) {
      const [answer] = await bench.ask({ kind: 'state', subgraphs })
      const { valuesOf, values } = answer!
      expect(valuesOf === '' ? JSON.parse(values) : bench.log.values())
        .toMatchObject({ word: 'in' })
      const { next, tasks } = read(answer!)
      expect(next).toEqual(['a', 'b'])
      expect(tasks.map((task) => task.name)).toEqual(['a', 'b'])
      for (const { error } of tasks) expect(JSON.parse(error!)).toMatchObject({ name })
    }
    const states = await bench.ask({ kind: 'history' })
    expect(states.map((each) => read(each).next)[0]).toEqual(['a', 'b'])
  })

  it('a state of durability exit is shown', async () => {
    const bench = new GraphBench(graph())
    await bench.run({ input: { word: 'in' }, durability: 'exit' })
    expect(await bench.ask({ kind: 'state' })).toHaveLength(1)
  })

  it('the state can be updated, and a new run begins', async () => {
    const bench = new GraphBench(graph())
    await bench.run({ input: { word: 'in' } })
    const values = kind === 'conflict' ? { word: 'new' } : { word: 'new', log: ['fine'] }
    const { outcome: edited } = await bench.edit([[{ values, asNode: 'a' }]])
    // Its past holds the write for good, so that nothing may be built on it.
    if (kind === 'delta') return expect(edited).toMatchObject({ error: { error: name } })
    expect(edited).toMatchObject({ status: 'success' })
    const [answer] = await bench.ask({ kind: 'state' })
    expect(read(answer!).tasks.every(({ error }) => error === null)).toBe(true)
    expect(bench.log.values().word).toBe('new')
    const { outcome } = await bench.run({ input: { word: 'again' } })
    expect(outcome).toMatchObject({ status: 'error', error: { error: name } })
  })
})

it('A failed step in a subgraph is shown as the error of its task, and inside.', async () => {
  const bench = new GraphBench(inner())
  await bench.run({ input: { word: 'in' } })
  for (const subgraphs of [false, true]) {
    const [answer] = await bench.ask({ kind: 'state', subgraphs })
    const { next, tasks: [task] } = read(answer!)
    expect(next).toEqual(['sub'])
    expect(JSON.parse(task!.error!)).toMatchObject({ name: 'InvalidUpdateError' })
    const [within] = await bench.ask({ kind: 'state', ns: `sub:${task!.id}`, subgraphs })
    expect(read(within!).next).toEqual(['a', 'b'])
  }
})

it('A command whose update conflicts with an earlier one leaves a state.', async () => {
  const bench = new GraphBench(conflict())
  const { outcome } = await bench.run(
    { command: { update: [['word', 'one'], ['word', 'two']] } },
  )
  expect(outcome.status).toBe('error')
  expect(await bench.ask({ kind: 'state' })).toEqual([])
  await bench.run({ input: { word: 'in' } })
  const before = bench.log.headId
  await bench.run({ command: { update: [['word', 'one'], ['word', 'two']] } })
  expect(bench.log.headId).toBe(before)
  const [answer] = await bench.ask({ kind: 'state' })
  expect(read(answer!)).toMatchObject({ next: ['a', 'b'] })
  expect(await bench.ask({ kind: 'history' })).not.toEqual([])
  expect((await bench.edit([[{ values: { word: 'new' }, asNode: 'a' }]])).outcome)
    .toMatchObject({ status: 'success' })
  expect(bench.log.values()).toMatchObject({ word: 'new' })
})

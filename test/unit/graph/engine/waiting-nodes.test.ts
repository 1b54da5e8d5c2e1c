/** Where a thread waits inside subgraphs, and answers to nodes there that are gone. */

import { Annotation, Send, StateGraph, interrupt } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'

import { toGraph } from '../../../../src/graph/project/graph-export.ts'
import { subgraphNames } from '../../../../src/graph/project/subgraphs.ts'
import { GraphBench } from '../../../support/graph-bench.ts'
import type { Ran, RunOptions } from '../../../support/graph-bench.ts'

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (kept, more) => kept.concat(more), default: () => [] }),
})

const asks = () => ({ log: [interrupt<string, string>('sure?')] })
const quiet = () => ({ log: [] })

/** A graph of one node, which may be a graph or call one. */
const around = (name: string, node: unknown, options: object = {}) =>
  new StateGraph(State).addNode(name, node as typeof asks, options)
    .addEdge('__start__', name as never)

const asking = (name: string) => around(name, asks).compile()
const withMemory = (name: string) => around(name, asks).compile({ checkpointer: true })
/** A node that calls graphs, one after another. */
const calling = (...graphs: readonly ReturnType<typeof asking>[]) => async () => {
  const log: string[] = []
  for (const graph of graphs) log.push(...(await graph.invoke({ log: [] })).log)
  return { log }
}

/** Graphs with a question at the node of this name, and the path that is known of it. */
const shapes: readonly (readonly [string, (name: string) => unknown, string])[] = [
  ['a subgraph', (name) => around('research', asking(name)).compile(), 'research:'],
  ['a subgraph of a subgraph', (name) => around('a', around('b', asking(name)).compile()).compile(),
    'a:b:'],
  ['a subgraph with a memory of its own', (name) => around('research', withMemory(name)).compile(),
    'research:'],
  ['a subgraph inside one with a memory of its own',
    (name) => around('a', around('b', asking(name)).compile({ checkpointer: true })).compile(),
    'a:b:'],
  ['a Send',
    (name) =>
      new StateGraph(State).addNode('plan', quiet).addNode('research', asking(name))
        .addEdge('__start__', 'plan')
        .addConditionalEdges('plan', () => [1, 2].map(() => new Send('research', { log: [] })))
        .compile(), 'research:'],
]

/** The same in functions that name the graphs which they call. */
const calls: typeof shapes = [
  ['a function that names the subgraph it calls', (name) => {
    const graph = asking(name)
    return around('research', calling(graph), { subgraphs: [graph] }).compile()
  }, 'research:'],
  ['the second of the subgraphs that a function names', (name) => {
    const [other, graph] = [around('other', quiet).compile(), asking(name)]
    return around('research', calling(graph), { subgraphs: [other, graph] }).compile()
  }, 'research:'],
  ['the third subgraph that a function calls', (name) => {
    const [other, graph] = [around('other', quiet).compile(), asking(name)]
    return around('research', calling(other, other, graph), { subgraphs: [other, graph] })
      .compile()
  }, 'research:'],
]

const [, simple] = shapes[0]!

/** What a run left to be answered, by task. */
const questions = ({ outcome: { interrupts } }: Ran) =>
  JSON.parse(interrupts) as Record<string, readonly { readonly id: string }[]>

/** Paths to the subgraphs that asked, without the ids in their namespaces. */
const askersOf = ({ askers = {} }: Ran['outcome']) =>
  Object.values(askers).map((ns) =>
    ns.split('|').map((part) => part.split(':')[0])
      .filter((name) => !/^\d+$/.test(name!)).join(':')
  )

/** The same thread under another graph. */
const continued = (graph: unknown, { log }: GraphBench) =>
  Object.assign(new GraphBench(graph), { log })

describe.each([...shapes, ...calls])('a question in %s', (_, graph, above) => {
  it.each([{}, { durability: 'exit' }] as const)('has a path: %o', async (request) => {
    const bench = new GraphBench(graph('ask'))
    const { outcome } = await bench.run({ input: { log: [] }, ...request })
    expect(outcome).toMatchObject({ waiting: true, waitsAt: [`${above}ask`] })
    const { subgraphNodes } = await subgraphNames(toGraph(graph('ask')))
    expect(subgraphNodes).toContain(`${above}ask`)
    expect(askersOf(outcome)).toContain(above.slice(0, -1))
  })
})

it('A question in the last of many calls has a path.', async () => {
  const graph = new StateGraph(State).addNode('plan', quiet).addNode('ask', asks)
    .addEdge('__start__', 'plan')
    .addConditionalEdges('plan', ({ log }) => log.length > 3 ? 'ask' : '__end__', ['ask',
      '__end__']).compile()
  const node = async () => {
    for (let i = 0; i < 5; i++) await graph.invoke({ log: Array<string>(i).fill('x') })
    return { log: [] }
  }
  const bench = new GraphBench(around('research', node, { subgraphs: [graph] }).compile())
  expect((await bench.run({ input: { log: [] } })).outcome.waitsAt).toEqual(['research:ask'])
})

it('A function may call a graph that it does not name, and gets the answer.', async () => {
  const [named, other] = [asking('named'), asking('ask')]
  const bench = new GraphBench(
    around('research', calling(other), { subgraphs: [named] }).compile(),
  )
  expect((await bench.run({ input: { log: [] } })).outcome.waitsAt).toEqual(['research'])
  expect((await bench.run({ command: { resume: 'yes' } })).outcome)
    .toMatchObject({ status: 'success', waiting: false })
  expect(bench.log.values().log).toEqual(['yes'])
})

describe.each(shapes)('a question in %s', (_, graph, above) => {
  it('is kept while its node is gone, and gets the answer once it is back', async () => {
    const bench = new GraphBench(graph('ask'))
    const asked = questions(await bench.run({ input: { log: [] } }))
    const renamed = continued(graph('question'), bench)
    const before = bench.log.writes.length
    for (const request of [{ command: { resume: 'yes' } }, { input: null }]) {
      const refused = await renamed.run(request)
      expect(questions(refused)).toEqual(asked)
      expect(refused.outcome).toMatchObject({ status: 'error', waiting: true,
        error: { message: expect.stringContaining(`waits at "${above}ask"`) as string } })
    }
    expect(bench.log.writes).toHaveLength(before)
    const back = continued(graph('ask'), bench)
    const resume = Object.fromEntries(
      Object.values(asked).flat().map(({ id }) => [id, 'yes']),
    )
    const { outcome } = await back.run({ command: { resume } })
    expect(outcome).toMatchObject({ status: 'success', waiting: false })
    expect(bench.log.values().log).toContain('yes')
  })
})

it('A graph that a function calls is not known: its node is where the thread waits.', async () => {
  const graph = around('research', calling(asking('ask'))).compile()
  const { outcome } = await new GraphBench(graph).run({ input: { log: [] } })
  expect(outcome).toMatchObject({ waiting: true, waitsAt: ['research'] })
  expect(await subgraphNames(toGraph(graph))).toEqual({ subgraphs: [], subgraphNodes: [] })
  // The engine knows it while it runs.
  expect(askersOf(outcome)).toEqual(['research'])
})

it('A subgraph that has not begun has no node that waits.', async () => {
  const bench = new GraphBench(simple('ask'))
  const { outcome } = await bench.run({ input: { log: [] }, interruptBefore: ['research'] })
  expect(outcome).toMatchObject({ waiting: true, waitsAt: ['research'] })
  const renamed = continued(simple('question'), bench)
  expect((await renamed.run({ input: null })).outcome)
    .toMatchObject({ status: 'success', waitsAt: ['research:question'] })
})

it('Only nodes that are not done wait, in each subgraph that is under way.', async () => {
  const inner = new StateGraph(State).addNode('ask', asks).addNode('done', quiet)
    .addEdge('__start__', 'ask').addEdge('__start__', 'done').compile()
  const graph = new StateGraph(State).addNode('one', inner).addNode('two', asking('confirm'))
    .addNode('three', quiet).addEdge('__start__', 'one').addEdge('__start__', 'two')
    .addEdge('__start__', 'three').compile()
  const { outcome } = await new GraphBench(graph).run({ input: { log: [] } })
  expect(outcome.waitsAt?.toSorted()).toEqual(['one:ask', 'two:confirm'])
  expect(await subgraphNames(toGraph(graph))).toEqual({ subgraphs: ['one', 'two'],
    subgraphNodes: ['one:ask', 'one:done', 'two:confirm'] })
})

it('Each question has the graph that asked it: two subgraphs, and not the root.', async () => {
  const graph = new StateGraph(State).addNode('own', asks).addNode('one', asking('ask'))
    .addNode('two', around('inner', asking('ask')).compile()).addEdge('__start__', 'own')
    .addEdge('__start__', 'one').addEdge('__start__', 'two').compile()
  const bench = new GraphBench(graph)
  const ran = await bench.run({ input: { log: [] } })
  const asked = Object.values(questions(ran)).flat().map(({ id }) => id)
  expect(asked).toHaveLength(3)
  expect(askersOf(ran.outcome).toSorted()).toEqual(['one', 'two:inner'])
  const { askers = {} } = ran.outcome
  const answered = asked.find((id) => askers[id]?.startsWith('one'))!
  const { outcome } = await bench.run({ command: { resume: { [answered]: 'yes' } } })
  expect(askersOf(outcome)).toEqual(['two:inner'])
})

it('A question that an earlier run left has its graph after a run that fails.', async () => {
  let fails = false
  const graph = new StateGraph(State).addNode('one', asking('ask')).addNode('two', () => {
    if (fails) throw new Error('broken')
    return { log: [interrupt<string, string>('sure?')] }
  }).addEdge('__start__', 'one').addEdge('__start__', 'two').compile()
  const bench = new GraphBench(graph)
  await bench.run({ input: { log: [] } })
  fails = true
  const { outcome } = await bench.run({ input: null })
  expect(outcome).toMatchObject({ status: 'error', waiting: true })
  expect(askersOf(outcome)).toEqual(['one'])
})

it('An edit keeps the thread in its subgraph, or leads it to another node there.', async () => {
  const inner = () =>
    new StateGraph(State).addNode('ask', asks).addNode('then', asks).addEdge('__start__', 'ask')
      .addEdge('ask', 'then').compile()
  const bench = new GraphBench(around('research', inner()).compile())
  await bench.run({ input: { log: [] } })
  const [state] = await bench.ask({ kind: 'state' })
  const { tasks: [task] } = JSON.parse(state!.json) as { tasks: [{ id: string }] }
  const { outcome } = await bench.edit([[{ values: { log: ['x'] }, asNode: 'ask' }]], {
    checkpoint: { checkpointId: null, checkpointNs: `research:${task.id}`, checkpointMap: null },
  })
  expect(outcome).toMatchObject({ waiting: true, waitsAt: ['research:then'] })
})

it('A run without an answer begins a subgraph anew at an earlier checkpoint, not at the newest.',
  async () => {
    const bench = new GraphBench(simple('ask'))
    await bench.run({ input: { log: [] } })
    const earlier = bench.log.headId
    await bench.run({ input: { log: [] } })
    const renamed = continued(simple('question'), bench)
    const at = async (checkpointId: string | null, request: RunOptions) => {
      const { outcome } = await renamed.run({ ...request,
        checkpoint: { checkpointId, checkpointNs: '', checkpointMap: null } })
      return outcome.error?.message ?? outcome.waitsAt
    }
    const refused = expect.stringContaining('waits at "research:ask"') as string
    expect(await at(bench.log.headId, { command: { resume: 'yes' } })).toEqual(refused)
    expect(await at(bench.log.headId, { input: null })).toEqual(refused)
    expect(await at(earlier, { command: { resume: 'yes' } })).toEqual(refused)
    expect(await at(earlier, { input: null })).toEqual(['research:question'])
  })

it('So many subgraphs that their nodes fill a description are not known.', async () => {
  const many = new StateGraph(State)
  for (let i = 0; i < 1_001; i++) many.addNode(`n${i}`, quiet).addEdge('__start__', `n${i}`)
  const graph = around('research', many.compile()).compile()
  expect(await subgraphNames(toGraph(graph))).toEqual({})
})

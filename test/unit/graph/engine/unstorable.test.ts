/** A value that cannot be stored fails its task; all before it is kept, whatever is streamed. */

import { Annotation, START, StateGraph, interrupt } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'

import { GraphBench } from '../../../support/graph-bench.ts'

function deep(): unknown {
  let list: unknown[] = []
  for (let i = 0; i < 100_000; i++) list = [list]
  return list
}

const refuses = { toJSON() {
  throw new RangeError('nobody may know')
} }

const values: readonly [string, () => unknown, RegExp][] = [
  ['whose toJSON throws', () => refuses, /nobody may know/],
  ['that is very deep', deep, /call stack/],
  ['whose member throws', () =>
    Object.defineProperty({}, 'x', { enumerable: true, get() {
      throw new Error('not now')
    } }), /not now/],
]

const State = Annotation.Root({ word: Annotation<string>(), out: Annotation<unknown>(),
  log: Annotation<string[]>({ reducer: (kept, more) => kept.concat(more), default: () => [] }) })

const modes = [['values'], ['updates'], ['messages'], ['custom'], ['values', 'updates', 'debug']]

describe.each(values)('A value %s', (_, make, reason) => {
  const graph = () =>
    new StateGraph(State)
      .addNode('before', () => ({ log: ['before'] })).addNode('bad', () => ({ out: make() }))
      .addNode('after', () => ({ log: ['after'] }))
      .addEdge(START, 'before').addEdge('before', 'bad').addEdge('bad', 'after').compile()

  it.each(
    modes.flatMap((streamModes) =>
      (['async', 'sync'] as const).map((durability) => [streamModes, durability] as const)
    ),
  )(
    'fails the run and leaves its input, streaming %j with durability %s',
    async (streamModes, durability) => {
      const bench = new GraphBench(graph())
      const { outcome } = await bench.run({ input: { word: 'in' }, streamModes, durability })
      expect(outcome).toMatchObject({ status: 'error', waiting: true,
        error: { message: expect.stringMatching(reason) } })
      expect(bench.log.values()).toMatchObject({ word: 'in', log: ['before'] })
      const [answer] = await bench.ask({ kind: 'state' })
      const { next, tasks } = JSON.parse(answer!.json) as { next: string[]; tasks: object[] }
      expect(next).toEqual(['bad'])
      expect(tasks).toMatchObject([{ name: 'bad', error: expect.stringMatching(reason) }])
      expect((await bench.edit([[{ values: { out: 'mended' }, asNode: 'bad' }]])).outcome)
        .toMatchObject({ status: 'success', waiting: true })
      expect((await bench.run({ input: null })).outcome).toMatchObject({ status: 'success' })
      expect(bench.log.values()).toMatchObject({ out: 'mended', log: ['before', 'after'] })
    },
  )

  it('leaves the input of the first step, asked as a question, and made by a reducer', async () => {
    const first = new GraphBench(new StateGraph(State)
      .addNode('bad', () => ({ out: make() })).addEdge(START, 'bad').compile())
    const asks = new GraphBench(new StateGraph(State)
      .addNode('bad', () => ({ out: interrupt(make()) })).addEdge(START, 'bad').compile())
    const reduces = new GraphBench(new StateGraph(Annotation.Root({
      word: Annotation<string>(),
      out: Annotation<unknown>({ reducer: () => make(), default: () => null }),
    })).addNode('bad', () => ({ out: 'fine' })).addEdge(START, 'bad').compile())
    for (const bench of [first, asks, reduces]) {
      const ran = await bench.run({ input: { word: 'in' } })
      expect(ran.outcome).toMatchObject({ status: 'error',
        error: { message: expect.stringMatching(reason) } })
      expect(bench.log.values()).toMatchObject({ word: 'in' })
      const [answer] = await bench.ask({ kind: 'state' })
      expect(JSON.parse(answer!.json)).toMatchObject({ next: ['bad'] })
    }
  })
})

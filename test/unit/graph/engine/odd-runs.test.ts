/** Graphs that stop, throw or write something unexpected: the run ends properly. */

import { Annotation, Command, START, Send, StateGraph, interrupt } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'

import { GraphBench } from '../../../support/graph-bench.ts'
import { line } from '../../../support/small-graphs.ts'

function oddError(words: object): Error {
  return Object.assign(new Error('odd'), words)
}

function no(): never {
  throw new Error('no')
}

describe('a run', () => {
  it('stops as at a breakpoint if a node calls requestDrain of the engine', async () => {
    const bench = new GraphBench(line(['a', 'b', 'c'], (name, config) => {
      const { control } = config as unknown as { control: { requestDrain(): void } }
      if (name === 'b') control.requestDrain()
    }))
    const { outcome } = await bench.run({ input: { log: [] } })
    expect(outcome).toMatchObject({ status: 'success', waiting: true, error: null })
    await bench.run({ input: null })
    expect(bench.log.values().log).toEqual(['a', 'b', 'c'])
  })

  it('fails if it throws an error of its own with the name GraphDrained', async () => {
    const bench = new GraphBench(line(['a'], () => {
      throw Object.assign(new Error('mine'), { name: 'GraphDrained' })
    }))
    const { outcome } = await bench.run({ input: { log: [] } })
    expect(outcome).toMatchObject({ status: 'error', error: { message: 'mine' } })
  })

  it.each([
    ['a circle', () => {
      const circle: Record<string, unknown> = {}
      return Object.assign(circle, { circle })
    }],
    ['a number too large for JSON', () => ({ big: 1n })],
    ['an error whose message is a symbol', () => oddError({ message: Symbol('s') })],
    ['an error whose name is an object', () => oddError({ name: { a: 1 } })],
    ['an error whose message refuses', () => oddError({ message: { toString: no, toJSON: no } })],
  ])('that throws %s ends with an error of texts', async (_, thrown) => {
    const bench = new GraphBench(line(['a'], () => {
      throw thrown()
    }))
    const { outcome } = await bench.run({ input: { log: [] } })
    const { error, message } = outcome.error!
    expect(outcome.status).toBe('error')
    expect([typeof error, typeof message]).toEqual(['string', 'string'])
    expect(structuredClone(outcome)).toEqual(outcome)
  })

  it.each(['constructor', 'toString', '__proto__'])(
    'fails if a node sends to %s, and leaves the thread as it was',
    async (name) => {
      const State = Annotation.Root({ word: Annotation<string>() })
      const bench = new GraphBench(new StateGraph(State)
        .addNode('sends', () => new Command({ goto: [new Send(name, { word: 'x' })] }))
        .addEdge(START, 'sends').compile())
      const { outcome } = await bench.run({ input: { word: 'in' } })
      expect(outcome).toMatchObject({ status: 'error', waiting: true,
        error: { message: expect.stringMatching(name) } })
      const [answer] = await bench.ask({ kind: 'state' })
      expect(JSON.parse(answer!.json)).toMatchObject({ next: ['sends'],
        tasks: [{ name: 'sends', error: expect.stringMatching(name) }] })
    },
  )

  it('that forks with durability sync puts a checkpoint before the writes on it', async () => {
    const bench = new GraphBench(line(['a', 'b']))
    await bench.run({ input: { log: [] } })
    const checkpoint = { checkpointId: bench.log.checkpoints[1]!.id, checkpointNs: '',
      checkpointMap: null }
    const { batches } = await bench.run(
      { command: { goto: 'b' }, checkpoint, durability: 'sync' },
    )
    const own = batches.map(({ steps }) =>
      new Set(steps.flatMap((step) => step.$case === 'checkpoint' ? [step.value.id] : []))
    )
    const late = batches.flatMap(({ steps }, index) =>
      steps.filter((step) =>
        step.$case === 'writes' &&
        own.slice(index + 1).some((later) => later.has(step.value.checkpointId))
      )
    )
    expect(late).toEqual([])
  })

  it('that makes no step from an old checkpoint leaves the thread waiting', async () => {
    const bench = new GraphBench(line(['a'], () => interrupt('sure?')))
    await bench.run({ input: { log: [] } })
    await bench.run({ command: { resume: 1 } })
    const checkpoint = { checkpointId: bench.log.headId!, checkpointNs: '', checkpointMap: null }
    const { outcome: asks } = await bench.run({ input: { log: [] } })
    const { outcome } = await bench.run({ command: { resume: 2 }, checkpoint })
    expect(outcome).toMatchObject({ status: 'success', waiting: true, interrupts: asks.interrupts })
  })

  it('that is interrupted again has values with the update of its command', async () => {
    const bench = new GraphBench(line(['a'], () => [interrupt('one?'), interrupt('two?')]))
    await bench.run({ input: { log: [] } })
    const { outcome } = await bench.run({ command: { resume: 1, update: { log: ['x'] } } })
    expect(outcome.waiting).toBe(true)
    expect(outcome.values).toBe('{"log":["x"]}')
  })

  it('that writes to a channel by an odd name ends in error and stores valid writes', async () => {
    const bench = new GraphBench(line(['a']))
    for (const name of ['toString', 'constructor', '__proto__']) {
      const command = `{"update":{"${name}":1}}`
      const { outcome } = await bench.run({ command: JSON.parse(command) as object })
      expect(outcome.status).toBe('error')
      expect(
        bench.log.writes.every(({ writes }) =>
          writes.every(({ index }) => Number.isInteger(index))
        ),
      ).toBe(true)
    }
  })
})

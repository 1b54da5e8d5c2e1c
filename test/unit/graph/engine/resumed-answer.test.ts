/** The resume values of a run that was cut short after the graph asked its next question. */

import * as langgraph from '@langchain/langgraph'
import { Annotation, START, StateGraph, interrupt } from '@langchain/langgraph'
import { expect, it } from 'vitest'

import type { RunRequest } from '../../../../src/graph/execution.ts'
import { runInput } from '../../../../src/graph/project/run-input.ts'
import { askedIn } from '../../../../src/graph/state/pending-writes.ts'
import { GraphBench } from '../../../support/graph-bench.ts'

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (kept, more) => kept.concat(more), default: () => [] }),
})

/** One node asks twice; the one beside it is answered and then waits for `release`. */
function graphOf(release: Promise<void>) {
  return new StateGraph(State)
    .addNode('asks', () => ({ log: [`${interrupt('one?')} ${interrupt('two?')}`] }))
    .addNode('holds', async () => {
      const received = interrupt<string, string>('hold?')
      await release
      return { log: [`held ${received}`] }
    })
    .addEdge(START, 'asks').addEdge(START, 'holds').compile()
}

it.each([
  ['any question', () => 'yes'],
  ['questions by id', (ids: string[]) => Object.fromEntries(ids.map((id) => [id, 'yes']))],
  ['questions by id, no', (ids: string[]) => Object.fromEntries(ids.map((id) => [id, false]))],
])('A resumed answer to %s goes to those that were open, not to later ones', async (_, answer) => {
  const { promise: release, resolve } = Promise.withResolvers<void>()
  const bench = new GraphBench(graphOf(release))
  const { outcome } = await bench.run({ input: { log: [] }, forget: true })
  const asked = JSON.parse(outcome.interrupts) as Record<string, { id: string; value: string }[]>
  const questions = Object.values(asked).flat()
  const resume = answer(questions.map(({ id }) => id))
  const value = typeof resume === 'string' ? resume : Object.values(resume)[0]

  const abort = new AbortController()
  const before = bench.log.writes.length
  await bench.run({ command: { resume }, signal: abort.signal, forget: true,
    onBatch: ({ steps }) => {
      if (JSON.stringify(steps).includes('two?')) setImmediate(() => abort.abort())
    } })
  resolve()
  const since = bench.log.writes.slice(before).flatMap((writes) => askedIn(writes) ?? [])
  const again = await bench.run({ command: { resume }, asked: since, attempt: 2 })

  expect(Object.values(JSON.parse(again.outcome.interrupts) as object))
    .toEqual([[{ id: since[0], value: 'two?' }]])
  expect(JSON.parse(again.outcome.values!)).toEqual({ log: [`held ${value}`] })
})

it('A resumed answer is dropped if its question was followed by another one.', async () => {
  const [first, second, other] = ['1', '2', '3'].map((digit) => digit.repeat(32))
  const command = JSON.stringify({ resume: { [first!]: 'yes', [other!]: 'no' } })
  const request = { command, asked: [second] } as Partial<RunRequest> as RunRequest
  expect(await runInput(request, langgraph, async () => [second!, other!]))
    .toHaveProperty('resume', { [other!]: 'no' })
})

it.each([[false, 'no'], [0, ''], ['yes', false]])(
  'answers one question only if falsy answers follow each other: %j, %j',
  async (second, third) => {
    const all = ['one?', 'two?', 'three?']
    const bench = new GraphBench(new StateGraph(State)
      .addNode('asks', () => ({ log: all.map((question) => String(interrupt(question))) }))
      .addEdge(START, 'asks').compile())
    const questions: string[] = []
    for (const resume of [undefined, 'first', second, third]) {
      const { outcome } = await bench.run({ input: { log: [] },
        ...resume !== undefined && { command: { resume } } })
      const asked = JSON.parse(outcome.interrupts) as Record<string, { value: string }[]>
      questions.push(...Object.values(asked).flat().map(({ value }) => value))
    }
    expect(questions).toEqual(all)
    expect(bench.log.values().log).toEqual(['first', String(second), String(third)])
  },
)

it('A resumed answer keeps the update of its command if no task had taken it.', async () => {
  const { promise: release, resolve } = Promise.withResolvers<void>()
  const first = Promise.withResolvers<void>()
  let [entered, emitted] = [0, [] as string[]]
  const graph = new StateGraph(State)
    .addNode('asks', async () => {
      entered += 1
      if (entered === 2) {
        first.resolve()
        await release
      }
      return { log: [`heard ${interrupt('one?')}`] }
    })
    .addNode('tells', ({ log }) => {
      emitted = log
      return {}
    })
    .addEdge(START, 'asks').addEdge('asks', 'tells').compile()
  const bench = new GraphBench(graph)
  await bench.run({ input: { log: [] }, forget: true })

  const abort = new AbortController()
  void first.promise.then(() => setImmediate(() => abort.abort()))
  await bench.run({ command: { resume: 'yes', update: { log: ['new'] } }, signal: abort.signal,
    forget: true })
  resolve()
  await bench.run({ command: { resume: 'yes' }, asked: [], attempt: 2 })

  expect(emitted).toEqual(['new', 'heard yes'])
})

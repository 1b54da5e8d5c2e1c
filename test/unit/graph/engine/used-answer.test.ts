/** A human's answer is used once: not for a later question, not after a failed attempt. */

import { Annotation, START, StateGraph, interrupt } from '@langchain/langgraph'
import { describe, expect, it } from 'vitest'

import { GraphBench } from '../../../support/graph-bench.ts'
import type { RunOptions } from '../../../support/graph-bench.ts'

const State = Annotation.Root({
  log: Annotation<string[]>({ reducer: (kept, more) => kept.concat(more), default: () => [] }),
})

const one = (work: () => string) =>
  new StateGraph(State)
    .addNode('asks', () => ({ log: [work()] })).addEdge(START, 'asks').compile()

/** The graph itself, and as the only node of another one. */
const shapes: readonly [string, (work: () => string) => unknown][] = [
  ['a graph', one],
  ['a subgraph', (work) =>
    new StateGraph(State)
      .addNode('inner', one(work)).addEdge(START, 'inner').compile()],
]

const durabilities = ['async', 'sync', 'exit'] as const
type Durability = typeof durabilities[number]

const cases = shapes.flatMap(([name, shape]) =>
  durabilities.flatMap((durability) =>
    ['unnamed', 'by id'].flatMap((way) =>
      [false, true].map((forget) => ({ name, shape, durability, way, forget }))
    )
  )
)

interface Question {
  readonly id: string
  readonly value: string
}

/** Runs on one thread, as clients that answer what is asked. */
class CommandStream {
  readonly bench: GraphBench
  readonly #durability: Durability
  readonly #forget: boolean
  questions: readonly Question[] = []

  constructor(graph: unknown, { durability, forget }: { durability: Durability; forget: boolean }) {
    this.bench = new GraphBench(graph)
    this.#durability = durability
    this.#forget = forget
  }

  async run(options: RunOptions) {
    const { outcome } = await this.bench.run(
      { durability: this.#durability, forget: this.#forget, ...options },
    )
    const asked = JSON.parse(outcome.interrupts) as Record<string, Question[]>
    this.questions = Object.values(asked).flat()
    return outcome
  }

  answer(way: string, value: unknown) {
    const resume = way === 'unnamed' ? value : { [this.questions[0]!.id]: value }
    return this.run({ command: { resume } })
  }

  get asked(): string[] {
    return this.questions.map(({ value }) => value)
  }
}

const both = () => `${interrupt('i1')} ${interrupt('i2')}`

/** Throws on any answer but a good one. */
const requireGood = (question: string) => {
  const answer = String(interrupt(question))
  if (!answer.startsWith('good')) throw new RangeError(`not ${answer}`)
  return answer
}

describe.each(cases)('In $name with durability $durability, answered $way, forgetting $forget',
  ({ shape, durability, way, forget }) => {
    it('an answer is not given to the next question by a run without input', async () => {
      const talk = new CommandStream(shape(both), { durability, forget })
      await talk.run({ input: { log: [] } })
      await talk.answer(way, 'A')
      expect(talk.asked).toEqual(['i2'])
      for (let again = 0; again < 2; again++) {
        expect(await talk.run({ input: null })).toMatchObject({ status: 'success', waiting: true })
        expect(talk.asked).toEqual(['i2'])
      }
      await talk.answer(way, 'B')
      expect(talk.bench.log.values().log).toEqual(['A B'])
    })

    it('the answer of a failed attempt is not used again', async () => {
      const talk = new CommandStream(shape(() => requireGood('i1')), { durability, forget })
      await talk.run({ input: { log: [] } })
      for (let again = 0; again < 2; again++) {
        const [question] = talk.questions
        expect(await talk.answer(way, 'bad')).toMatchObject({ status: 'error' })
        expect(await talk.run({ input: null })).toMatchObject({ status: 'success', waiting: true })
        expect(talk.questions).toEqual([question])
      }
      expect(await talk.answer(way, 'bad')).toMatchObject({ status: 'error' })
      expect(talk.asked).toEqual(['i1'])
      expect(await talk.answer(way, 'good')).toMatchObject({ status: 'success', waiting: false })
      expect(talk.bench.log.values().log).toEqual(['good'])
    })

    it('a failed attempt keeps the answers to earlier questions', async () => {
      const work = () => `${requireGood('i1')} ${requireGood('i2')}`
      const talk = new CommandStream(shape(work), { durability, forget })
      await talk.run({ input: { log: [] } })
      await talk.answer(way, 'good 1')
      const [question] = talk.questions
      expect(await talk.answer(way, 'bad')).toMatchObject({ status: 'error' })
      expect(talk.questions).toEqual([question])
      expect(await talk.run({ input: null })).toMatchObject({ status: 'success', waiting: true })
      expect(talk.questions).toEqual([question])
      expect(await talk.answer(way, 'good 2')).toMatchObject({ status: 'success' })
      expect(talk.bench.log.values().log).toEqual(['good 1 good 2'])
    })
  })

/** Graphs about steps: order, reducers, failure, limits, jumps, fan-out, custom events. */

import { Annotation, Command, END, Send, START, StateGraph } from '@langchain/langgraph'
import type { LangGraphRunnableConfig } from '@langchain/langgraph'

const Steps = Annotation.Root({
  topic: Annotation<string>(),
  log: Annotation<string[]>({ reducer: (kept, added) => kept.concat(added), default: () => [] }),
})

const abc = () =>
  new StateGraph(Steps)
    .addNode('a', (state) => ({ log: [`a:${state.topic}`] }))
    .addNode('b', (state) => ({ log: [`b:${state.topic}`] }))
    .addNode('c', (state) => ({ log: [`c:${state.topic}`] }))
    .addEdge(START, 'a')
    .addEdge('a', 'b')
    .addEdge('b', 'c')
    .addEdge('c', END)

/** a, b, c: each adds a line to the log. */
export const steps = abc().compile()

/** The same with a breakpoint of its own before b. */
export const paused = abc().compile({ interruptBefore: ['b'] })

/** Ten nodes in a row: each adds a line to the log. */
export const chain = new StateGraph(Steps)
  .addSequence(
    Array.from({ length: 10 }, (_, place): [string, typeof addLine] => [`node${place}`, addLine]),
  )
  .addEdge(START, 'node0')
  .addEdge('node9', END)
  .compile()

function addLine(state: typeof Steps.State) {
  return { log: [`and ${state.topic}`] }
}

const Count = Annotation.Root({
  by: Annotation<number>(),
  total: Annotation<number>({ reducer: (total, by) => total + by, default: () => 0 }),
})

/** Adds `by` to the total. */
export const counter = new StateGraph(Count)
  .addNode('add', (state) => ({ total: state.by }))
  .addEdge(START, 'add')
  .addEdge('add', END)
  .compile()

/** a works; boom throws a TypeError with the topic as its message. */
export const failing = new StateGraph(Steps)
  .addNode('a', () => ({ log: ['a'] }))
  .addNode('boom', (state) => {
    if (state.topic !== 'calm') throw new TypeError(state.topic)
    return { log: ['boom'] }
  })
  .addEdge(START, 'a')
  .addEdge('a', 'boom')
  .addEdge('boom', END)
  .compile()

/** Loops until the recursion limit stops it. */
export const endless = new StateGraph(Steps)
  .addNode('again', () => ({ log: ['again'] }))
  .addEdge(START, 'again')
  .addEdge('again', 'again')
  .compile()

/** The first node jumps to the node that the topic names. */
export const jump = new StateGraph(Steps)
  .addNode('choose', (state) => new Command({ goto: state.topic, update: { log: ['choose'] } }), {
    ends: ['left', 'right'],
  })
  .addNode('left', () => ({ log: ['left'] }))
  .addNode('right', () => ({ log: ['right'] }))
  .addEdge(START, 'choose')
  .addEdge('left', END)
  .addEdge('right', END)
  .compile()

const Fan = Annotation.Root({
  words: Annotation<string[]>(),
  word: Annotation<string>(),
  loud: Annotation<string[]>({ reducer: (kept, added) => kept.concat(added), default: () => [] }),
})

/** One task for each word, all in one superstep. */
export const fanout = new StateGraph(Fan)
  .addNode('shout', (state: { word: string }) => ({ loud: [state.word.toUpperCase()] }))
  .addConditionalEdges(START, (state) => state.words.map((word) => new Send('shout', { word })))
  .addEdge('shout', END)
  .compile()

/** Writes three custom events. */
export const custom = new StateGraph(Steps)
  .addNode('tell', (state, config: LangGraphRunnableConfig) => {
    for (const part of [1, 2, 3]) config.writer?.({ topic: state.topic, part })
    return { log: ['told'] }
  })
  .addEdge(START, 'tell')
  .addEdge('tell', END)
  .compile()

const Wide = Annotation.Root({
  pieces: Annotation<number>(),
  /** Characters of each piece. */
  size: Annotation<number>(),
})

/** Writes many large custom events. */
export const wide = new StateGraph(Wide)
  .addNode('pour', async (state, config: LangGraphRunnableConfig) => {
    for (let piece = 0; piece < state.pieces; piece += 1) {
      config.writer?.({ piece, filler: 'x'.repeat(state.size) })
      await Promise.resolve()
    }
    return {}
  })
  .addEdge(START, 'pour')
  .addEdge('pour', END)
  .compile()

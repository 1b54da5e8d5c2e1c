/** Graphs of a few nodes, each for one trait of the engine. */

import { AIMessage } from '@langchain/core/messages'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { Annotation, END, MessagesAnnotation, START, Send, StateGraph,
  interrupt } from '@langchain/langgraph'
import type { LangGraphRunnableConfig } from '@langchain/langgraph'

/** Answers the last message. */
export const echo = new StateGraph(MessagesAnnotation)
  .addNode('echo', ({ messages }) => ({
    messages: [new AIMessage(`re: ${String(messages.at(-1)?.content)}`)],
  }))
  .addEdge(START, 'echo')
  .addEdge('echo', END)
  .compile()

/** The input of a chat graph with one message. */
export function said(content: string): { messages: { role: string; content: string }[] } {
  return { messages: [{ role: 'user', content }] }
}

const Log = Annotation.Root({
  log: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
})

/** A line of nodes that log their names; `work` may do more in one of them. */
export function line(names: readonly string[],
  work: (name: string, config: LangGraphRunnableConfig) => unknown = () => {}) {
  const graph = new StateGraph(Log) as StateGraph<never, typeof Log.State, object, string>
  names.forEach((name, i) => {
    graph.addNode(name, async (_: unknown, config: LangGraphRunnableConfig) => {
      const found = await work(name, config)
      return { log: [found === undefined ? name : `${name} ${JSON.stringify(found)}`] }
    })
    graph.addEdge(i === 0 ? START : names[i - 1]!, name)
  })
  graph.addEdge(names.at(-1)!, END)
  return graph.compile()
}

/** Two interrupts at once, then a node that logs both answers. */
export const twoQuestions = new StateGraph(Log)
  .addNode('left', () => ({ log: [`left ${JSON.stringify(interrupt('left?'))}`] }))
  .addNode('right', () => ({ log: [`right ${JSON.stringify(interrupt('right?'))}`] }))
  .addNode('last', () => ({ log: ['last'] }))
  .addEdge(START, 'left')
  .addEdge(START, 'right')
  .addEdge('left', 'last')
  .addEdge('right', 'last')
  .compile()

/** Sends work to one node several times at once. */
export const fanOut = new StateGraph(Log)
  .addNode('spread', () => ({ log: ['spread'] }))
  .addNode('work', (packet: unknown) => ({ log: [`work ${(packet as { n: number }).n}`] }))
  .addEdge(START, 'spread')
  .addConditionalEdges('spread', () => [new Send('work', { n: 1 }), new Send('work', { n: 2 })], [
    'work',
  ])
  .addEdge('work', END)
  .compile()

const inner = new StateGraph(Log)
  .addNode('deep', () => ({ log: ['deep'] }))
  .addNode('deeper', (_, config: LangGraphRunnableConfig) => {
    config.writer?.({ from: 'deeper' })
    return { log: ['deeper'] }
  })
  .addEdge(START, 'deep')
  .addEdge('deep', 'deeper')
  .addEdge('deeper', END)

/** A graph in a graph. */
export const nested = new StateGraph(Log)
  .addNode('sub', inner.compile())
  .addNode('after', () => ({ log: ['after'] }))
  .addEdge(START, 'sub')
  .addEdge('sub', 'after')
  .addEdge('after', END)
  .compile()

const asking = new StateGraph(Log)
  .addNode('ask', () => ({ log: [`asked ${JSON.stringify(interrupt('sure?'))}`] }))
  .addEdge(START, 'ask')
  .addEdge('ask', END)

/** A graph in a graph that stops for an answer. */
export const nestedAsk = new StateGraph(Log)
  .addNode('sub', asking.compile())
  .addEdge(START, 'sub')
  .addEdge('sub', END)
  .compile()

/** Streams `one two` in pieces from a model. */
export const tokens = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }) => {
    const model = new FakeListChatModel({ responses: ['one two'] })
    return { messages: [await model.invoke(messages)] }
  })
  .addEdge(START, 'model')
  .addEdge('model', END)
  .compile()

/** A graph inside a graph, with events and an interrupt of its own. */

import { tool } from '@langchain/core/tools'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { Annotation, END, interrupt, MessagesAnnotation, START,
  StateGraph } from '@langchain/langgraph'
import type { LangGraphRunnableConfig } from '@langchain/langgraph'
import { z } from 'zod'

const Log = Annotation.Root({
  topic: Annotation<string>(),
  log: Annotation<string[]>({ reducer: (kept, added) => kept.concat(added), default: () => [] }),
})

const Inner = Annotation.Root({
  topic: Annotation<string>(),
  inner: Annotation<string>(),
  log: Annotation<string[]>({ reducer: (kept, added) => kept.concat(added), default: () => [] }),
})

const inner = new StateGraph(Inner)
  .addNode('deep', (state, config: LangGraphRunnableConfig) => {
    config.writer?.({ from: 'deep' })
    return { inner: `deep ${state.topic}`, log: ['deep'] }
  })
  .addEdge(START, 'deep')
  .addEdge('deep', END)
  .compile()

const asking = new StateGraph(Inner)
  .addNode('prepare', () => ({ inner: 'prepared' }))
  .addNode('deep', (state) => ({ log: [`answer ${interrupt(`${state.topic}?`) as string}`] }))
  .addEdge(START, 'prepare')
  .addEdge('prepare', 'deep')
  .addEdge('deep', END)
  .compile()

/** outer, then the subgraph `sub`. */
export const nested = new StateGraph(Log)
  .addNode('outer', () => ({ log: ['outer'] }))
  .addNode('sub', inner)
  .addEdge(START, 'outer')
  .addEdge('outer', 'sub')
  .addEdge('sub', END)
  .compile()

/** The subgraph asks a human; `after` shows that the outer graph went on. */
export const nestedask = new StateGraph(Log)
  .addNode('sub', asking)
  .addNode('after', () => ({ log: ['after'] }))
  .addEdge(START, 'sub')
  .addEdge('sub', 'after')
  .addEdge('after', END)
  .compile()

const add = tool(({ a, b }: { a: number; b: number }) => String(a + b), { name: 'add',
  schema: z.object({ a: z.number(), b: z.number() }) })

const working = new StateGraph(MessagesAnnotation)
  .addNode('work', async () => {
    await add.invoke({ type: 'tool_call', id: 'call-1', name: 'add', args: { a: 1, b: 2 } })
    const model = new FakeListChatModel({ responses: ['one two'] })
    return { messages: [await model.invoke('go')] }
  })
  .addEdge(START, 'work')
  .addEdge('work', END)
  .compile()

/** The subgraph calls a tool, and streams an answer. */
export const nestedwork = new StateGraph(MessagesAnnotation)
  .addNode('sub', working)
  .addEdge(START, 'sub')
  .addEdge('sub', END)
  .compile()

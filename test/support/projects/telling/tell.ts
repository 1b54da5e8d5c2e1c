/** Graphs that reveal everything they get of a request, in their state and in an error. */

import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
import type { LangGraphRunnableConfig } from '@langchain/langgraph'

const Told = Annotation.Root({ told: Annotation<Record<string, unknown>>() })

function texts({ configurable = {} }: LangGraphRunnableConfig): Record<string, unknown> {
  return Object.fromEntries(Object.entries(configurable)
    .filter(([, value]) => typeof value === 'string'))
}

export const tell = new StateGraph(Told)
  .addNode('say', (_, config: LangGraphRunnableConfig) => ({ told: texts(config) }))
  .addEdge(START, 'say')
  .addEdge('say', END)
  .compile()

export const fail = new StateGraph(Told)
  .addNode('say', (_, config: LangGraphRunnableConfig) => {
    throw new Error(`told ${JSON.stringify(texts(config))}`)
  })
  .addEdge(START, 'say')
  .addEdge('say', END)
  .compile()

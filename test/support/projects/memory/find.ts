/** A graph that puts one item and finds others by meaning. */

import { Annotation, StateGraph } from '@langchain/langgraph'
import type { LangGraphRunnableConfig } from '@langchain/langgraph'

const State = Annotation.Root({
  namespace: Annotation<string[]>,
  query: Annotation<string>,
  found: Annotation<unknown[]>,
})

export const find = new StateGraph(State)
  .addNode('find', async ({ namespace, query }, { store }: LangGraphRunnableConfig) => {
    await store!.put(namespace, 'hidden', { text: query }, false)
    await store!.put(namespace, 'other', { title: query }, ['title'])
    return { found: await store!.search(namespace, { query }) }
  })
  .addEdge('__start__', 'find')
  .compile()

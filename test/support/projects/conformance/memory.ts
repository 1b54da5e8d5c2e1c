/** A graph that does what its input says with the store that it gets, here and in a subgraph. */

import { Annotation, getStore, InMemoryStore, StateGraph } from '@langchain/langgraph'
import type { BaseStore, LangGraphRunnableConfig } from '@langchain/langgraph'

type Call = readonly [method: 'get' | 'put' | 'search' | 'delete' | 'listNamespaces',
  ...values: unknown[]]

const State = Annotation.Root({
  calls: Annotation<Call[]>,
  together: Annotation<boolean>,
  results: Annotation<unknown[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
})

async function calling(store: BaseStore | undefined,
  { calls, together }: typeof State.State): Promise<unknown[]> {
  const call = async ([method, ...values]: Call) =>
    await (store as unknown as Record<string, (...values: unknown[]) => Promise<unknown>>)[method]!(
      ...values,
    ) ?? null
  if (together) return Promise.all(calls.map(call))
  const results: unknown[] = []
  for (const each of calls) results.push(await call(each).catch(({ message }) => ({ message })))
  return results
}

const inner = new StateGraph(State)
  .addNode('within', async (state) => ({ results: await calling(getStore(), state) }))
  .addEdge('__start__', 'within')
  .compile({ store: new InMemoryStore() })

export const memory = new StateGraph(State)
  .addNode('here', async (state, config: LangGraphRunnableConfig) => ({
    results: await calling(config.store, state),
  }))
  .addEdge('__start__', 'here')
  .compile({ store: new InMemoryStore() })

export const memorybelow = new StateGraph(State)
  .addNode('below', async (state) => {
    const { results } = await inner.invoke({ ...state, results: [] })
    return { results }
  })
  .addEdge('__start__', 'below')
  .compile()

/** A graph with graphs as nodes: one two levels down, one called by a function. */

import { Annotation, START, StateGraph } from '@langchain/langgraph'

export { narrow as renamed } from './typed.ts'

const Said = Annotation.Root({ said: Annotation<string> })
const Counted = Annotation.Root({ said: Annotation<string>(), count: Annotation<number>() })

const deep = new StateGraph(Counted)
  .addNode('work', () => ({}))
  .addEdge(START, 'work')
  .compile()

const middle = new StateGraph(Said)
  .addNode('deep', deep)
  .addEdge(START, 'deep')
  .compile()

export const outer = new StateGraph(Said)
  .addNode('sub', middle)
  .addNode('called', async (state) => ({ said: (await deep.invoke(state)).said }), {
    subgraphs: [deep],
  })
  .addEdge(START, 'sub')
  .addEdge('sub', 'called')
  .compile()

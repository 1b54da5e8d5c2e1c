/** Three graphs, one inside the other. */

import { Annotation, START, StateGraph } from '@langchain/langgraph'

const Said = Annotation.Root({ said: Annotation<string>() })
const nothing = () => ({})

const innermost = new StateGraph(Said)
  .addNode('one', nothing)
  .addNode('two', nothing)
  .addEdge(START, 'one')
  .addEdge('one', 'two')
  .compile()

const middle = new StateGraph(Said)
  .addNode('deep', innermost)
  .addNode('beside', nothing)
  .addEdge(START, 'deep')
  .addEdge('deep', 'beside')
  .compile()

export const outer = new StateGraph(Said)
  .addNode('sub', middle)
  .addNode('substitute', nothing)
  .addEdge(START, 'sub')
  .addEdge('sub', 'substitute')
  .compile()

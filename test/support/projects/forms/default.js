/** A graph in JavaScript, by default. */

import { Annotation, START, StateGraph } from '@langchain/langgraph'

export default new StateGraph(Annotation.Root({ said: Annotation() }))
  .addNode('say', () => ({ said: 'default' }))
  .addEdge(START, 'say')

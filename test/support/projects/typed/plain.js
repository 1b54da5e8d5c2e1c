/** A graph without types. */

import { Annotation, START, StateGraph } from '@langchain/langgraph'

const State = Annotation.Root({ topic: Annotation() })

export const plain = new StateGraph(State)
  .addNode('work', () => ({}))
  .addEdge(START, 'work')
  .compile()

/** A graph in JavaScript, the default export of its file. */

import { Annotation, END, START, StateGraph } from '@langchain/langgraph'

const Said = Annotation.Root({ said: Annotation() })

export default new StateGraph(Said)
  .addNode('say', () => ({ said: { text: 'defaulted' } }))
  .addEdge(START, 'say')
  .addEdge('say', END)
  .compile()

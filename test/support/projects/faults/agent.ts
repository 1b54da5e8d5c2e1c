/** A graph that answers at once. */

import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('answer', () => ({ messages: [{ role: 'assistant', content: 'Here.' }] }))
  .addEdge('__start__', 'answer').compile()

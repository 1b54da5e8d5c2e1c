/** A graph that answers with a component: `card Paris` shows the component `card` of Paris. */

import { Annotation, MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import { typedUi, uiMessageReducer } from '@langchain/langgraph-sdk/react-ui/server'

const State = Annotation.Root({
  ...MessagesAnnotation.spec,
  ui: Annotation({
    default: () => [],
    reducer: uiMessageReducer,
  }),
})

function answer({ messages }, config) {
  const [name = '', city = ''] = String(messages.at(-1)?.content).split(' ')
  const message = { id: `answer to ${messages.length}`, role: 'ai', content: 'Here it is:' }
  const ui = typedUi(config)
  ui.push({ name, props: { city } }, { message })
  return { messages: [message] }
}

export const cards = new StateGraph(State).addNode('answer', answer)
  .addEdge('__start__', 'answer').compile()

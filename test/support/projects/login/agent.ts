/** A graph that says for whom it runs. */

import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import type { LangGraphRunnableConfig } from '@langchain/langgraph'

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('answer', (_, { configurable }: LangGraphRunnableConfig) => {
    const { langgraph_auth_user: user, langgraph_auth_user_id: id } = configurable ?? {}
    return { messages: [{ role: 'assistant', content: JSON.stringify({ id, team: user?.team }) }] }
  })
  .addEdge('__start__', 'answer').compile()

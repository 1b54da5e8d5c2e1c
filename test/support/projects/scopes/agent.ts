/** A graph that keeps what its user says last, where only that user sees it. */

import { MessagesAnnotation, StateGraph } from '@langchain/langgraph'
import type { LangGraphRunnableConfig } from '@langchain/langgraph'

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('keep', async ({ messages }, { configurable, store }: LangGraphRunnableConfig) => {
    const user = String(configurable?.['langgraph_auth_user_id'])
    await store!.put([user], 'last', { text: messages.at(-1)!.content })
    return { messages: [{ role: 'assistant', content: `Kept for ${user}.` }] }
  })
  .addEdge('__start__', 'keep').compile()

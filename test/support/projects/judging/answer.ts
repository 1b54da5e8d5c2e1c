/** An agent that is asked: it answers what it was told. `broken` fails, `slowly` takes its time. */

import { AIMessage } from '@langchain/core/messages'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'

/** One node. */
export const answer = new StateGraph(MessagesAnnotation)
  .addNode('answer', async ({ messages }) => {
    const text = String(messages.at(-1)?.content ?? '')
    if (text.startsWith('broken')) throw new Error('I do not know.')
    if (text.startsWith('slowly')) await new Promise((done) => setTimeout(done, 100))
    return {
      messages: [
        new AIMessage({ content: `Answer to ${text}`,
          usage_metadata: { input_tokens: 3, output_tokens: 4, total_tokens: 7 },
          response_metadata: { model_name: 'answerer' } }),
      ],
    }
  })
  .addEdge(START, 'answer')
  .addEdge('answer', END)
  .compile()

/** A graph whose answers say what they used: a message for each line that it is sent. */

import { AIMessage } from '@langchain/core/messages'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'

type Chat = typeof MessagesAnnotation.State

/** The line `gpt-4o 100 10 90 4` is a model, its tokens in and out, cached and reasoning ones. */
function answerTo(line: string) {
  const [model_name = '', ...tokens] = line.split(' ')
  const [input = 0, output = 0, cached = 0, reasoning = 0] = tokens.map(Number)
  return new AIMessage({ content: `${model_name} answers`, response_metadata: { model_name },
    usage_metadata: { input_tokens: input, output_tokens: output, total_tokens: input + output,
      input_token_details: { cache_read: cached }, output_token_details: { reasoning } } })
}

const answer = ({ messages }: Chat) => ({
  messages: (messages.at(-1)?.text ?? '').split('\n').map(answerTo),
})

/** The second node writes again what is there, as a subgraph does. */
export const metered = new StateGraph(MessagesAnnotation)
  .addNode('model', answer)
  .addNode('again', ({ messages }) => ({ messages }))
  .addEdge(START, 'model')
  .addEdge('model', 'again')
  .addEdge('again', END)
  .compile()

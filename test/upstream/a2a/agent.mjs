/**
 * The agent that the conformance kit of A2A calls. It answers and asks for more, as the kit sends
 * further messages to a task; a message with `goodbye` ends it. One whose id begins as the kit says
 * works longer, so that there is something to subscribe to.
 */

import { setTimeout } from 'node:timers/promises'

import { AIMessage, HumanMessage } from '@langchain/core/messages'
import { interrupt, MessagesAnnotation, StateGraph } from '@langchain/langgraph'

const longId = 'test-resubscribe-message-id'
const longMs = 2_000 * Number(process.env.TCK_STREAMING_TIMEOUT ?? 2)

async function answer({ messages }, config) {
  const last = messages.at(-1)
  if (last?.id?.startsWith(longId)) await setTimeout(longMs, undefined, { signal: config.signal })
  return { messages: [new AIMessage(`Hello: ${last?.text ?? ''}`)] }
}

function more() {
  const given = interrupt('Anything else?')
  return { messages: [new HumanMessage(typeof given === 'string' ? given : JSON.stringify(given))] }
}

const isOver = ({ messages }) =>
  messages.findLast(({ type }) => type === 'human')?.text.includes('goodbye') ? '__end__' : 'more'

/** The graph. */
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('answer', answer)
  .addNode('more', more)
  .addEdge('__start__', 'answer')
  .addConditionalEdges('answer', isOver, ['more', '__end__'])
  .addEdge('more', 'answer')
  .compile()

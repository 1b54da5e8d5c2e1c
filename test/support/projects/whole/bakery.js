/**
 * A graph that does what the last message of its user says: it asks, waits, shows a component,
 * says who its caller is, or makes a thread as its caller.
 */

import { Annotation, END, interrupt, MessagesAnnotation, START,
  StateGraph } from '@langchain/langgraph'
import { Client } from '@langchain/langgraph-sdk'
import { typedUi, uiMessageReducer } from '@langchain/langgraph-sdk/react-ui/server'

const Bakery = Annotation.Root({
  ...MessagesAnnotation.spec,
  ui: Annotation({ default: () => [], reducer: uiMessageReducer }),
})

/** By its first word, what a message asks for. */
const works = {
  ask: (word) => `You said ${interrupt({ question: `Which ${word}?` })}.`,
  hold: async (url, { signal }) => (await fetch(url, { signal: signal ?? null })).status,
  thread: async () => (await new Client().threads.create()).thread_id,
  who: (_, { configurable }) => {
    const { langgraph_auth_user: user, langgraph_auth_user_id: id, 'x-colour': colour = null } =
      configurable ?? {}
    return JSON.stringify({ id, team: user?.team, colour })
  },
}

async function work({ messages }, config) {
  const [name = '', word = ''] = messages.findLast(({ type }) => type === 'human').text.split(' ')
  const message = { id: `answer to ${messages.at(-1).id}`, role: 'assistant',
    content: String(await works[name]?.(word, config) ?? 'Nothing to do.') }
  if (name === 'show') typedUi(config).push({ name: word, props: { city: 'Oslo' } }, { message })
  return { messages: [message] }
}

/** What it has heard from its user, at the end. */
function repeat({ messages }) {
  const heard = messages.filter(({ type }) => type === 'human').map(({ text }) => text)
  return { messages: [{ role: 'assistant', content: `I heard: ${heard.join(', ')}.` }] }
}

export const bakery = new StateGraph(Bakery)
  .addNode('work', work)
  .addNode('repeat', repeat)
  .addEdge(START, 'work')
  .addEdge('work', 'repeat')
  .addEdge('repeat', END)
  .compile()

/** A graph whose result has a value that no checkpoint contains, as an agent's response has. */

import { AIMessage } from '@langchain/core/messages'
import { END, interrupt, MessagesValue, START, StateGraph, StateSchema,
  UntrackedValue } from '@langchain/langgraph'
import { z } from 'zod'

const State = new StateSchema({ messages: MessagesValue, notes: z.string().optional() })

/** The notes are no part of it. */
const Output = new StateSchema({
  messages: MessagesValue,
  structuredResponse: new UntrackedValue(z.object({ city: z.string() })),
})

/** Answers with the city that it was asked about, and asks back if that is `somewhere`. */
export const structured = new StateGraph({ state: State, output: Output })
  .addNode('find', ({ messages }) => {
    const city = messages.at(-1)!.text
    return { notes: city, messages: [new AIMessage(`It is ${city}.`)],
      structuredResponse: { city } }
  })
  .addNode('check', ({ notes }) => notes === 'somewhere' ? { notes: interrupt('where?') } : {})
  .addEdge(START, 'find')
  .addEdge('find', 'check')
  .addEdge('check', END)
  .compile()

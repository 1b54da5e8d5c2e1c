/** Graphs that call another graph of their own server; one writes to its log and its console. */

import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { RemoteGraph } from '@langchain/langgraph/remote'
import { Client } from '@langchain/langgraph-sdk'
import { getLogger } from '@langchain/langgraph-sdk/logging'

/** Created as in many projects: on import, before the server answers. */
const client = new Client()

const tooEarly = await client.assistants.search()
  .then(() => 'was answered', (error: Error) => error.message)

export const calling = new StateGraph(MessagesAnnotation)
  .addNode('call', async ({ messages }) => {
    getLogger().info('The graph calls.', { messages: messages.length }).warn('It goes on.')
    const input = { messages: [{ role: 'user', content: messages.at(-1)!.text }] }
    const echoed = await client.runs.wait(null, 'echo', { input }) as {
      messages: { content: string }[]
    }
    const { LANGGRAPH_API_URL: url, PORT: port } = process.env
    const places = await Promise.all(
      [`${url}/ok`, `http://127.0.0.1:${port}/ok`].map((place) =>
        fetch(place).then(({ status }) => status)
      ),
    )
    console.debug('It was answered: %s', echoed.messages.at(-1)!.content)
    console.error('It would send Authorization: Bearer planted-in-a-line')
    return { messages: [echoed.messages.at(-1)!.content, tooEarly, places.join(' ')] }
  })
  .addEdge(START, 'call')
  .addEdge('call', END)
  .compile()

const far = new RemoteGraph({ graphId: 'echo', client })

/** Another graph as a node: on this run's own thread it would wait for ever for this run to end. */
export const delegating = new StateGraph(MessagesAnnotation)
  .addNode('far', (state) => far.invoke(state, { configurable: {} }))
  .addEdge(START, 'far')
  .addEdge('far', END)
  .compile()

/** One graph in each form in which a project may export it. */

import { FakeListChatModel } from '@langchain/core/utils/testing'
import { Annotation, entrypoint, START, StateGraph } from '@langchain/langgraph'
import { createAgent } from 'langchain'

const Said = Annotation.Root({ said: Annotation<string>() })

const saying = (text: string) =>
  new StateGraph(Said)
    .addNode('say', () => ({ said: text }))
    .addEdge(START, 'say')

export const compiled = saying(process.env.FORMS_WORD ?? 'nothing').compile()

export const uncompiled = saying('uncompiled')

export const promised = Promise.resolve(saying('promised'))

export const agent = createAgent({
  model: new FakeListChatModel({ responses: ['agent'] }),
  tools: [],
})

/** Says what it was called with. */
export const factory = async (config: unknown, runtime: unknown) =>
  saying(JSON.stringify({ config, runtime })).compile()

/** Makes graphs for runs only. */
export const choosy = (_: unknown, runtime: { executionRuntime: unknown }) => {
  if (runtime.executionRuntime === null) throw new Error('only for runs')
  return saying('chosen')
}

export const functional = entrypoint('functional', async (input: string) => `heard ${input}`)

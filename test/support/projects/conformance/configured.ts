/** Graphs that use their configuration, and the ways in which a project may export a graph. */

import { readFile } from 'node:fs/promises'

import { Annotation, END, START, StateGraph } from '@langchain/langgraph'
import type { LangGraphRunnableConfig } from '@langchain/langgraph'
import { z } from 'zod'

const Said = Annotation.Root({
  said: Annotation<Record<string, unknown>>(),
})

const Context = z.object({
  model_name: z.string().optional(),
  system_prompt: z.string().optional(),
})

/** Returns the context and configuration that it was given. */
export const configured = new StateGraph(Said, Context)
  .addNode('say', (_state, config: LangGraphRunnableConfig) => ({
    said: {
      context: config.context ?? null,
      secret: config.configurable?.['secret'] ?? null,
      word: process.env['CONFORMANCE_WORD'] ?? null,
      header: config.configurable?.['x-colour'] ?? null,
    },
  }))
  .addEdge(START, 'say')
  .addEdge('say', END)
  .compile()

const saying = (text: string) =>
  new StateGraph(Said)
    .addNode('say', () => ({ said: { text } }))
    .addEdge(START, 'say')
    .addEdge('say', END)

/** Creates a graph for every use, from the configuration. */
export async function factory(config: LangGraphRunnableConfig) {
  await Promise.resolve()
  return saying(`made for ${String(config.configurable?.['customer'] ?? 'nobody')}`).compile()
}

/** Fails without a customer, and if the configuration itself claims a user. */
export function needy(config: LangGraphRunnableConfig) {
  const { customer, langgraph_auth_user_id: claim } = config.configurable ?? {}
  if (claim !== undefined) throw new Error(`are you really ${String(claim)}?`)
  if (customer === undefined) throw new Error('who is the customer?')
  return saying(`made for ${String(customer)}`).compile()
}

/** Makes the nodes that the configuration names, the last of them as a graph of its own. */
export function shaped(config: LangGraphRunnableConfig) {
  const names = config.configurable?.['nodes'] as string[] | undefined ?? ['say']
  const State = Annotation.Root({ said: Annotation<object>(), ...Object.fromEntries(
    names.map((name) => [`from_${name}`, Annotation<string>()]),
  ) })
  const graph = new StateGraph(State) as unknown as StateGraph<object, object, object, string>
  names.forEach((name, i) =>
    graph
      .addNode(name, i < names.length - 1 ? () => ({}) : saying('inside').compile())
      .addEdge(i === 0 ? START : names[i - 1]!, name)
  )
  return graph.compile()
}

/** Not compiled: the server does it. */
export const plain = saying('plain')

/** A promise of a graph. */
export const promised = Promise.resolve(saying('promised').compile())

/** Reads a file as projects do that are started in their own folder. */
export const reader = new StateGraph(Said)
  .addNode('say', async () => ({ said: { text: await readFile('words/greeting.txt', 'utf8') } }))
  .addEdge(START, 'say')
  .addEdge('say', END)
  .compile()

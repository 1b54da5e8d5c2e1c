/** The subgraph of the desk that looks for sources: plan, search twice side by side, rank. */

import { setTimeout } from 'node:timers/promises'

import { Annotation, END, Send, START, StateGraph } from '@langchain/langgraph'

/** What a search found. `score` is from 0 to 1. */
export interface Source {
  readonly title: string
  readonly score: number
}

const Research = Annotation.Root({
  topic: Annotation<string>,
  queries: Annotation<string[]>,
  found: Annotation<Source[]>({ reducer: (kept, added) => kept.concat(added), default: () => [] }),
  sources: Annotation<Source[]>,
})

type State = typeof Research.State

/** The stand-ins for slow services take this long, so that one sees which of them is at work. */
const serviceMs = 400

async function plan({ topic }: State) {
  await setTimeout(serviceMs)
  return { queries: [`${topic} history`, `${topic} figures`] }
}

/** A made-up result: call a search engine here instead. */
async function search({ query }: { query: string }) {
  await setTimeout(serviceMs + query.length)
  const score = query.endsWith('history') ? 0.91 : 0.84
  return { found: [
    { title: `Report on ${query}`, score },
    { title: `Interview about ${query}`, score: Number((score - 0.19).toFixed(2)) },
  ] }
}

async function rank({ found }: State) {
  await setTimeout(serviceMs)
  return { sources: found.toSorted((one, other) => other.score - one.score).slice(0, 3) }
}

export const research = new StateGraph(Research)
  .addNode('plan', plan)
  .addNode('search', search)
  .addNode('rank', rank)
  .addEdge(START, 'plan')
  .addConditionalEdges('plan',
    ({ queries }) => queries.map((query) => new Send('search', { query })), ['search'])
  .addEdge('search', 'rank')
  .addEdge('rank', END)
  .compile()

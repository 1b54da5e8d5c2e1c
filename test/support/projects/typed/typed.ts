/** Graphs whose state has types and nothing else, exported in each of the possible ways. */

import { FakeListChatModel } from '@langchain/core/utils/testing'
import type { AIMessage, BaseMessage } from '@langchain/core/messages'
import { Annotation, entrypoint, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { createAgent } from 'langchain'

import type { Card, Json, Tree } from './shapes.ts'

const nothing = () => ({})

const Wide = Annotation.Root({
  ...MessagesAnnotation.spec,
  /** What it is about. */
  topic: Annotation<string | null>(),
  kind: Annotation<'a' | 'b' | undefined>(),
  card: Annotation<Card<number>>(),
  cards: Annotation<Record<'x' | 'y', Partial<Card<Date>>>>(),
  tree: Annotation<Tree>(),
  json: Annotation<Json>(),
  pair: Annotation<[string, number?]>(),
  both: Annotation<{ a: string } & { b: number }>(),
  words: Annotation<string[], string>({ reducer: (all, word) => [...all, word],
    default: () => [] }),
  last: Annotation<BaseMessage>(),
  asked: Annotation<AIMessage[] | undefined>(),
  bytes: Annotation<Uint8Array>(),
  seen: Annotation<Set<string>>(),
  url: Annotation<URL>(),
  anything: Annotation<unknown>(),
})

const Context = Annotation.Root({ model: Annotation<'small' | 'large'> })

export const wide = new StateGraph(Wide, Context)
  .addNode('work', nothing)
  .addEdge(START, 'work')
  .compile()

const State = Annotation.Root({ topic: Annotation<string>(), count: Annotation<number>() })
const Input = Annotation.Root({ topic: Annotation<string>() })
const Output = Annotation.Root({ count: Annotation<number>() })

const builder = new StateGraph({ stateSchema: State, input: Input, output: Output })
  .addNode('work', nothing)
  .addEdge(START, 'work')

export const narrow = builder.compile()
export const made = async () => builder.compile()
export const unbuilt = builder
export default narrow
export const promised = Promise.resolve(narrow)

export const agent = createAgent({ model: new FakeListChatModel({ responses: ['yes'] }),
  tools: [] })

export const worded = entrypoint('worded', async (text: string) => ({ length: text.length }))
export const numbered = entrypoint('numbered',
  async (input: { number: number; twice?: boolean }) => input.number)

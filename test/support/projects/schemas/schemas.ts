/** Graphs whose state is declared in each of the possible ways. */

import type { BaseMessage } from '@langchain/core/messages'
import { Annotation, MessagesAnnotation, MessagesDeltaValue, MessagesValue, MessagesZodMeta, START,
  StateGraph, StateSchema, UntrackedValue } from '@langchain/langgraph'
import { registry } from '@langchain/langgraph/zod'
import { z } from 'zod'

const nothing = () => ({})

const Whole = Annotation.Root({
  ...MessagesAnnotation.spec,
  question: Annotation<string>(),
  answer: Annotation<string>(),
})
const Input = Annotation.Root({ ...MessagesAnnotation.spec, question: Annotation<string>() })
const Output = Annotation.Root({ answer: Annotation<string>() })

export const annotated = new StateGraph({ state: Whole, input: Input, output: Output })
  .addNode('work', nothing)
  .addEdge(START, 'work')
  .compile()

/** Two fields that JSON Schema cannot express. */
const Zod = z.object({
  messages: z.custom<BaseMessage[]>().register(registry, MessagesZodMeta),
  topic: z.string().describe('What it is about.'),
  due: z.date(),
})

const Context = z.object({ user: z.string().describe('Who asks.'), tone: z.enum(['kind', 'dry']) })

export const zod = new StateGraph(Zod, Context)
  .addNode('work', nothing)
  .addEdge(START, 'work')
  .compile()

const Stated = new StateSchema({
  messages: MessagesValue,
  count: z.number().default(0),
  name: z.string(),
})

export const stated = new StateGraph(Stated)
  .addNode('work', nothing)
  .addEdge(START, 'work')
  .compile()

/** State that is no part of a checkpoint, and yet has a value from the start. */
export const passing = new StateGraph(new StateSchema({
  draft: new UntrackedValue(z.string().default('empty')),
}))
  .addNode('work', nothing)
  .addEdge(START, 'work')
  .compile()

/** State of which a checkpoint holds only the changes. */
export const delta = new StateGraph(new StateSchema({ messages: MessagesDeltaValue }))
  .addNode('work', nothing)
  .addEdge(START, 'work')
  .compile()

/** Graphs whose state is said in each of the ways there are. */

import type { BaseMessage } from '@langchain/core/messages'
import { Annotation, MessagesAnnotation, MessagesValue, MessagesZodMeta, START, StateGraph,
  StateSchema } from '@langchain/langgraph'
import { registry } from '@langchain/langgraph/zod'
import { z } from 'zod'

const nothing = () => ({})

const Whole = Annotation.Root({
  ...MessagesAnnotation.spec, question: Annotation<string>(), answer: Annotation<string>(),
})
const Input = Annotation.Root({ ...MessagesAnnotation.spec, question: Annotation<string>() })
const Output = Annotation.Root({ answer: Annotation<string>() })

export const annotated = new StateGraph({ state: Whole, input: Input, output: Output })
  .addNode('work', nothing)
  .addEdge(START, 'work')
  .compile()

/** Two fields that JSON Schema has no word for. */
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
  messages: MessagesValue, count: z.number().default(0), name: z.string(),
})

export const stated = new StateGraph(Stated)
  .addNode('work', nothing)
  .addEdge(START, 'work')
  .compile()

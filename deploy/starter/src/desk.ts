/** A news desk: researches a question, drafts a note, and asks a person before it publishes. */

import { setTimeout } from 'node:timers/promises'

import { AIMessage, HumanMessage, SystemMessage } from '@langchain/core/messages'
import { Annotation, END, interrupt, MessagesAnnotation, START,
  StateGraph } from '@langchain/langgraph'
import type { LangGraphRunnableConfig } from '@langchain/langgraph'
import { z } from 'zod'

import { loadModel } from './model.ts'
import { research } from './research.ts'
import type { Source } from './research.ts'

/** Where a note may appear. */
const channels = ['web', 'newsletter', 'print'] as const

/** The settings of an assistant. */
const Context = z.object({
  model_name: z.string().optional().describe('A model of the provider whose API key is set.'),
  channel: z.enum(channels).default('web').describe('Where notes appear unless you say so.'),
  notify_subscribers: z.boolean().default(false).describe('Tell subscribers of new notes.'),
})

/** What a person approves: the form of the question is made from it. */
const Publication = z.object({
  title: z.string().min(1).meta({ title: 'Title' }),
  channel: z.enum(channels).meta({ title: 'Channel' }),
  notify_subscribers: z.boolean().optional().meta({ title: 'Notify subscribers' }),
  embargo_hours: z.int().min(0).optional().meta({ title: 'Embargo (hours)' }),
})

const Desk = Annotation.Root({
  ...MessagesAnnotation.spec,
  topic: Annotation<string>,
  sources: Annotation<Source[]>,
  /** What to publish, once it is approved. */
  publication: Annotation<z.infer<typeof Publication> | null>,
  /** What a person wants changed. */
  wish: Annotation<string | null>,
})

type State = typeof Desk.State
type Config = LangGraphRunnableConfig<z.input<typeof Context>>

/** The answers that people give to `review`, as reviewing tools of LangChain send them. */
interface Review {
  readonly decisions: readonly [
    | { readonly type: 'approve' }
    | { readonly type: 'edit'; readonly editedAction: { readonly args: unknown } }
    | { readonly type: 'reject'; readonly message?: string },
  ]
}

async function triage({ messages }: State) {
  await setTimeout(300)
  const words = messages.at(-1)?.text.replace(/[?.!]+$/, '').trim() ?? ''
  return { topic: words || 'Weaving', publication: null, wish: null }
}

async function write({ topic, sources, wish }: State, { context }: Config) {
  const model = await loadModel(context?.model_name)
  const list = sources.map(({ title, score }, i) => `${i + 1}. ${title} (score ${score})`)
  const draft = await model.invoke([
    new SystemMessage('Write a short note on the topic. Use the sources, and nothing else.'),
    new HumanMessage(
      `Topic: ${topic}\n\n${wish ? `Wish: ${wish}\n` : ''}Sources:\n${list.join('\n')}`,
    ),
  ])
  return { messages: [draft] }
}

/** Waits for a person. The answer may change the arguments, or send the draft back. */
function review({ topic }: State, { context }: Config) {
  const { channel = 'web', notify_subscribers = false } = context ?? {}
  const args = { title: topic, channel, notify_subscribers, embargo_hours: 0 }
  const { decisions: [decision] } = interrupt({
    actionRequests: [{ name: 'publish', args, description: 'Publish this draft to readers?' }],
    reviewConfigs: [{ actionName: 'publish', allowedDecisions: ['approve', 'edit', 'reject'],
      argsSchema: z.toJSONSchema(Publication) }],
  }) as Review
  if (decision.type === 'reject') return { wish: decision.message ?? 'Write it differently.' }
  return { wish: null,
    publication: decision.type === 'edit' ? Publication.parse(decision.editedAction.args) : args }
}

async function publish({ publication }: State) {
  await setTimeout(300)
  const { title, channel, embargo_hours: hours = 0 } = publication!
  const when = hours === 0 ? 'now' : `in ${hours} h`
  return { messages: [new AIMessage(`Published "${title}" (${channel}, ${when}).`)] }
}

export const desk = new StateGraph(Desk, Context)
  .addNode('triage', triage)
  .addNode('research', research)
  .addNode('write', write)
  .addNode('review', review)
  .addNode('publish', publish)
  .addEdge(START, 'triage')
  .addEdge('triage', 'research')
  .addEdge('research', 'write')
  .addEdge('write', 'review')
  .addConditionalEdges('review', ({ publication }) => publication ? 'publish' : 'write', ['publish',
    'write'])
  .addEdge('publish', END)
  .compile()

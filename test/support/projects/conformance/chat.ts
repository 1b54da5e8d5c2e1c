/** Chat graphs: one echoes, one waits for a test, one streams tokens. */

import { AIMessage } from '@langchain/core/messages'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { END, interrupt, MessagesAnnotation, MessagesDeltaValue, START, StateGraph, StateSchema,
  StreamChannel } from '@langchain/langgraph'
import type { LangGraphRunnableConfig } from '@langchain/langgraph'

type Chat = typeof MessagesAnnotation.State

const heard = (state: Chat) => state.messages.findLast((message) => message.type === 'human')

/** One node that answers the last human message. */
export const echo = new StateGraph(MessagesAnnotation)
  .addNode('echo', (state) => ({
    messages: [new AIMessage({ content: `echo: ${heard(state)?.text ?? ''}` })],
  }))
  .addEdge(START, 'echo')
  .addEdge('echo', END)
  .compile()

/**
 * `hold <url>` waits in the node `hold` until the URL answers, or until the run is cancelled;
 * `stubborn <url>` waits and ignores a cancellation. Any other message passes at once.
 */
async function hold(state: Chat, config: LangGraphRunnableConfig) {
  const [word, url] = (heard(state)?.text ?? '').split(' ')
  if (url !== undefined && word === 'hold') await fetch(url, { signal: config.signal ?? null })
  if (url !== undefined && word === 'stubborn') await fetch(url)
  return { messages: [new AIMessage({ content: 'held' })] }
}

/** Three nodes, the middle one under the test's control. */
export const held = new StateGraph(MessagesAnnotation)
  .addNode('first', () => ({ messages: [new AIMessage({ content: 'first' })] }))
  .addNode('hold', hold)
  .addNode('last', () => ({ messages: [new AIMessage({ content: 'last' })] }))
  .addEdge(START, 'first')
  .addEdge('first', 'hold')
  .addEdge('hold', 'last')
  .addEdge('last', END)
  .compile()

/**
 * plan speaks; answer throws what comes behind `fail`, and `long <n>` as one word of that length.
 * Any other message is answered.
 */
export const refusing = new StateGraph(MessagesAnnotation)
  .addNode('plan', () => ({ messages: [new AIMessage({ content: 'planned' })] }))
  .addNode('answer', (state) => {
    const [word, ...rest] = (heard(state)?.text ?? '').split(' ')
    if (word === 'fail') throw new RangeError(rest.join(' '))
    if (word === 'long') throw new RangeError('w'.repeat(Number(rest[0])))
    return { messages: [new AIMessage({ content: 'answered' })] }
  })
  .addEdge(START, 'plan')
  .addEdge('plan', 'answer')
  .addEdge('answer', END)
  .compile()

/** speak says that it asks; ask wants a colour; tell says which one it was given. */
export const chatcolour = new StateGraph(MessagesAnnotation)
  .addNode('speak', () => ({ messages: [new AIMessage({ content: 'asking' })] }))
  .addNode('ask', () => {
    const colour = interrupt('Which colour?') as string
    return { messages: [new AIMessage({ content: `it is ${colour}` })] }
  })
  .addEdge(START, 'speak')
  .addEdge('speak', 'ask')
  .addEdge('ask', END)
  .compile()

/** A model node that streams `one two three` in pieces. */
export const tokens = new StateGraph(MessagesAnnotation)
  .addNode('model', async (state) => {
    const model = new FakeListChatModel({ responses: ['one two three'] })
    return { messages: [await model.invoke(state.messages)] }
  })
  .addEdge(START, 'model')
  .addEdge('model', END)
  .compile()

/** Keeps its messages as deltas, which only the graph can assemble. */
export const delta = new StateGraph(new StateSchema({ messages: MessagesDeltaValue }))
  .addNode('echo', ({ messages }) => ({
    messages: [new AIMessage({ content: `echo: ${messages.at(-1)?.text ?? ''}` })],
  }))
  .addEdge(START, 'echo')
  .addEdge('echo', END)
  .compile()

/** Echoes, and counts in a channel of its own what its nodes have done. */
export const counted = new StateGraph(MessagesAnnotation)
  .addNode('echo', (state) => ({
    messages: [new AIMessage({ content: `echo: ${heard(state)?.text ?? ''}` })],
  }))
  .addEdge(START, 'echo')
  .addEdge('echo', END)
  .compile({ transformers: [() => {
    const counts = StreamChannel.remote<number>('counts')
    let seen = 0
    return {
      init: () => ({ counts }),
      process: ({ method }: { method: string }) => {
        if (method === 'updates') counts.push(++seen)
        return true
      },
    }
  }] })

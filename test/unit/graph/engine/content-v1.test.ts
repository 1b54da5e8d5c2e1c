/** Messages with content of version 1: shown with their content, and posted back unchanged. */

import { AIMessage, AIMessageChunk, HumanMessage, SystemMessage,
  ToolMessage } from '@langchain/core/messages'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { createAgent, tool } from 'langchain'
import { expect, it } from 'vitest'
import { z } from 'zod'

import { GraphBench } from '../../../support/graph-bench.ts'

const text = { type: 'text', text: 'hi' } as const
const call = { type: 'tool_call', id: 'c1', name: 'find', args: { q: [1] } } as const
const blocks = [text, { type: 'reasoning', reasoning: 'hm' }, call, { type: 'image',
  url: 'https://example.com/i.png' }] as never
const v1 = { response_metadata: { output_version: 'v1', model_name: 'm' } } as const

/** Has a member that its class does not know. */
class OwnMessage extends AIMessage {
  readonly mood = 'glad'
}

type Made = AIMessage | HumanMessage | SystemMessage | ToolMessage

const kinds: readonly [string, () => Made | Promise<Made>][] = [
  ['an answer of blocks', () => new AIMessage({ contentBlocks: blocks })],
  ['an answer with all members',
    () =>
      new AIMessage({ ...v1, id: 'i', name: 'n', content: blocks, additional_kwargs: { a: 1 },
        usage_metadata: { input_tokens: 1, output_tokens: 2, total_tokens: 3 } })],
  ['an answer of text and calls',
    () => new AIMessage({ ...v1, content: 'hi', tool_calls: [{ ...call }] })],
  ['a question of blocks', () => new HumanMessage({ contentBlocks: [text] as never })],
  ['an order of blocks', () => new SystemMessage({ contentBlocks: [text] as never })],
  ['a result of blocks',
    () =>
      new ToolMessage({ contentBlocks: [text] as never, tool_call_id: 'c1', status: 'success',
        artifact: { a: [1] }, name: 'find' })],
  ['a result that says its version',
    () =>
      new ToolMessage({ ...v1, content: [text], tool_call_id: 'c1', status: 'error',
        metadata: { m: 1 } })],
  ['a chunk of blocks', () => new AIMessageChunk({ contentBlocks: [text] as never })],
  ['a message of a class of its own', () => new OwnMessage({ contentBlocks: blocks })],
  ['the answer of a model',
    () =>
      new FakeListChatModel({ responses: ['one two'], outputVersion: 'v1' } as never).invoke('x')],
  ['the answer of version 0', () => new AIMessage({ content: 'hi', tool_calls: [{ ...call }] })],
  ['the result of version 0',
    () =>
      new ToolMessage({ content: 'hi', tool_call_id: 'c1', status: 'error', artifact: { a: 1 },
        metadata: { m: 1 }, name: 'find' })],
]

const streamModes = ['values', 'updates', 'messages', 'debug', 'tasks', 'checkpoints']

it.each(kinds)('The state and all events show the content of %s', async (_, make) => {
  const made = await make()
  const bench = new GraphBench(new StateGraph(MessagesAnnotation)
    .addNode('speak', async () => ({ messages: [await make()] }))
    .addEdge(START, 'speak').compile())
  const { events } = await bench.run({ input: { messages: [] }, streamModes })
  const emitted = events.map(({ json }) => json).filter((json) => json !== '').join('\n')
  const shown = bench.log.values().messages as { content: unknown }[]
  expect(shown).toMatchObject([{ type: made.type, content: made.content }])
  for (const all of [emitted, JSON.stringify(shown)]) {
    expect(all).not.toMatch(/"lc_\w+"|contentBlocks|content_blocks/)
  }
  expect(emitted).toContain(`"content":${JSON.stringify(made.content)}`)
})

it.each(kinds)('Nothing changes if %s is posted back, and all is there again later',
  async (_, make) => {
    const message = Object.assign(await make(), { id: 'same' })
    message.lc_kwargs.id = 'same'
    const seen: unknown[] = []
    const bench = new GraphBench(new StateGraph(MessagesAnnotation)
      .addNode('speak', ({ messages }) => {
        seen.push(messages.map(({ type, content }) => ({ type, content })))
        return messages.length < 2 ? { messages: [message] } : {}
      })
      .addEdge(START, 'speak').compile())
    await bench.run({ input: { messages: [{ role: 'user', content: 'q', id: 'q' }] } })
    const before = structuredClone(bench.log.values())
    await bench.edit([[{ values: before, asNode: '__start__' }]])
    expect(bench.log.values()).toEqual(before)
    await bench.run({ input: before, forget: true })
    expect(bench.log.values()).toEqual(before)
    await bench.run({ input: before })
    expect(bench.log.values()).toEqual(before)
    expect(seen.at(-1)).toEqual([{ type: 'human', content: 'q' }, { type: message.type,
      content: message.content }])
  })

/** Calls the tool, then ends. */
class Caller extends FakeListChatModel {
  #calls = 0

  override bindTools() {
    return this as never
  }

  override async _generate() {
    this.#calls += 1
    const tool_calls = this.#calls % 2 === 1 ? [{ ...call }] : []
    const message = new AIMessage({ content: `answer ${this.#calls}`, tool_calls })
    return { generations: [{ text: '', message }] }
  }

  override async invoke(...request: Parameters<FakeListChatModel['invoke']>) {
    const { outputVersion } = this as { outputVersion?: string }
    expect(outputVersion).toBe('v1')
    return super.invoke(...request)
  }
}

it('An agent with a model of version 1 shows its messages, and takes them back.', async () => {
  const find = tool(() => 'found', { name: 'find', description: 'Finds.',
    schema: z.object({ q: z.array(z.number()) }) })
  const model = new Caller({ responses: [''], outputVersion: 'v1' } as never)
  // It answers at once, in one piece.
  const { _streamResponseChunks } = BaseChatModel.prototype
  Object.assign(model, { _streamResponseChunks })
  const bench = new GraphBench(createAgent({ model: model as never, tools: [find] }))
  const input = { messages: [{ role: 'user', content: 'q' }] }
  const { outcome, events } = await bench.run({ input, streamModes })
  expect(outcome.error).toBe(null)
  const { messages } = structuredClone(bench.log.values()) as { messages: unknown[] }
  expect(messages).toMatchObject([{ type: 'human' }, { type: 'ai',
    content: [{ type: 'text', text: 'answer 1' }, { type: 'tool_call' }] }, { type: 'tool',
    content: 'found', status: 'success' }, { type: 'ai',
    content: [{ type: 'text', text: 'answer 2' }] }])
  expect(events.map(({ json }) => json).join() + JSON.stringify(messages))
    .not.toMatch(/"lc_\w+"|contentBlocks|content_blocks/)
  for (const asNode of ['model_request', 'tools', '__start__']) {
    await bench.edit([[{ values: { messages }, asNode }]])
    expect(bench.log.values().messages).toEqual(messages)
  }
})

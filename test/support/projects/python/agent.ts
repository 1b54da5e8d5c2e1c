/** An agent that calls a tool once: two messages of its model, one of the tool. */

import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import type { BaseMessage } from '@langchain/core/messages'
import { AIMessageChunk } from '@langchain/core/messages'
import { ChatGenerationChunk } from '@langchain/core/outputs'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { createAgent, tool } from 'langchain'
import { z } from 'zod'

/** Streams a call of the tool first, and an answer once there is a result. */
class Caller extends FakeListChatModel {
  override bindTools() {
    return this
  }

  override async *_streamResponseChunks(messages: BaseMessage[],
    _options: this['ParsedCallOptions'], manager?: CallbackManagerForLLMRun) {
    for (const message of messages.at(-1)?.type === 'tool' ? answer() : call()) {
      const chunk = new ChatGenerationChunk({ message, text: message.text })
      yield chunk
      await manager?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, {
        chunk,
      })
    }
  }

  override async _generate(messages: BaseMessage[], options: this['ParsedCallOptions']) {
    let whole: ChatGenerationChunk | undefined
    for await (const chunk of this._streamResponseChunks(messages, options)) {
      whole = whole?.concat(chunk) ?? chunk
    }
    return { generations: [whole!] }
  }
}

// Each is made anew, because a chunk gets the id of its message.
const answer = () => ['It is ', 'sunny.'].map((text) => new AIMessageChunk(text))

const call = () =>
  [{ id: 'call-1', name: 'weather', args: '{"city":' }, { args: '"Paris"}' }].map((part) =>
    new AIMessageChunk({ content: '',
      tool_call_chunks: [{ type: 'tool_call_chunk', index: 0, ...part }] })
  )

const weather = tool(({ city }) => `sunny in ${city}`, { name: 'weather',
  description: 'The weather in a city.', schema: z.object({ city: z.string() }) })

export const agent = createAgent({ model: new Caller({ responses: [''] }), tools: [weather] })

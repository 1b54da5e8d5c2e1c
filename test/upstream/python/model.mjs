/** A model without a network: its answer follows from the messages. */

import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, AIMessageChunk } from '@langchain/core/messages'
import { ChatGenerationChunk } from '@langchain/core/outputs'

/** Streams an answer word by word. */
export class ScriptedModel extends BaseChatModel {
  #answer

  constructor(answer) {
    super({})
    this.#answer = answer
  }

  _llmType() {
    return 'scripted'
  }

  bindTools() {
    return this
  }

  async _generate(messages) {
    const message = new AIMessage(this.#answer(messages))
    return { generations: [{ message, text: message.text }] }
  }

  async *_streamResponseChunks(messages, options, manager) {
    const { content, id, tool_calls: calls = [] } = this.#answer(messages)
    const words = content.split(/(?= )/)
    for (const [index, word] of words.entries()) {
      const toolCalls = index > 0 ? [] : calls.map((call, place) => ({
        type: 'tool_call_chunk',
        index: place,
        id: call.id,
        name: call.name,
        args: JSON.stringify(call.args),
      }))
      const message = new AIMessageChunk({ content: word, id, tool_call_chunks: toolCalls })
      yield new ChatGenerationChunk({ message, text: word })
      await manager?.handleLLMNewToken(word)
    }
  }
}

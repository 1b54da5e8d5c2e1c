/** A model whose answer a test holds up in its middle. */

import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import type { BaseMessage } from '@langchain/core/messages'
import { AIMessageChunk } from '@langchain/core/messages'
import { ChatGenerationChunk } from '@langchain/core/outputs'
import { FakeListChatModel } from '@langchain/core/utils/testing'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'

/** Writes `one`, and ` two` when the URL that it was sent answers. */
class Dictated extends FakeListChatModel {
  override async *_streamResponseChunks(messages: BaseMessage[],
    _options: this['ParsedCallOptions'], manager?: CallbackManagerForLLMRun) {
    for (const text of ['one', ' two']) {
      if (text === ' two') await fetch(messages.at(-1)!.text)
      const chunk = new ChatGenerationChunk({ message: new AIMessageChunk(text), text })
      yield chunk
      await manager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk })
    }
  }
}

export const dictated = new StateGraph(MessagesAnnotation)
  .addNode('model', async ({ messages }) => {
    const model = new Dictated({ responses: [''] })
    return { messages: [await model.invoke(messages)] }
  })
  .addEdge(START, 'model')
  .addEdge('model', END)
  .compile()

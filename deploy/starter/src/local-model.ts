/** A stand-in for a hosted model: works offline, and answers the same question the same way. */

import { setImmediate, setTimeout } from 'node:timers/promises'

import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import type { BaseChatModelCallOptions,
  BindToolsInput } from '@langchain/core/language_models/chat_models'
import { AIMessageChunk } from '@langchain/core/messages'
import type { BaseMessage, ToolCallChunk } from '@langchain/core/messages'
import { ChatGenerationChunk } from '@langchain/core/outputs'
import type { ChatResult } from '@langchain/core/outputs'

interface LocalOptions extends BaseChatModelCallOptions {
  tools?: BindToolsInput[]
}

/** How long a draft takes for a word. One sees it grow, as with a model elsewhere. */
const draftWordMs = 12

/**
 * Calls `get_weather` if asked about the weather in a place, drafts a note from sources if it gets
 * some, and otherwise answers in words.
 */
export class LocalModel extends BaseChatModel<LocalOptions> {
  override _llmType() {
    return 'local'
  }

  override bindTools(tools: BindToolsInput[]) {
    return this.withConfig({ tools })
  }

  override async _generate(messages: BaseMessage[], options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun): Promise<ChatResult> {
    let whole: ChatGenerationChunk | undefined
    for await (const chunk of this._streamResponseChunks(messages, options, runManager)) {
      whole = whole?.concat(chunk) ?? chunk
    }
    return { generations: whole === undefined ? [] : [whole] }
  }

  override async *_streamResponseChunks(messages: BaseMessage[], options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun) {
    const isDraft = draftOf(messages) !== undefined
    for (const chunk of reply(messages, options.tools)) {
      // Waits between tokens as for a network, so that a long answer blocks nothing else.
      if (isDraft) await setTimeout(draftWordMs, undefined, { signal: options.signal })
      else await setImmediate(undefined, { signal: options.signal })
      yield chunk
      await runManager?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, {
        chunk,
      })
    }
  }
}

function reply(messages: readonly BaseMessage[],
  tools: readonly BindToolsInput[] = []): ChatGenerationChunk[] {
  const draft = draftOf(messages)
  if (draft !== undefined) return inWords(draft)
  const last = messages.at(-1)
  if (last?.type === 'tool') return inWords(`I looked it up. ${last.text}`)
  const question = last?.text ?? ''
  const [, city] = /weather\b.*\b(?:in|at|for) +([^?.!,]+)/i.exec(question) ?? []
  if (tools.length > 0 && city !== undefined) {
    const args = JSON.stringify({ city: city.trim() })
    return [toolCall({ name: 'get_weather', args, id: `call_${messages.length}`, index: 0 })]
  }
  const prompt = messages.find((message) => message.type === 'system')?.text ?? ''
  return inWords(`You said: "${question}". I am a small stand-in for a model, with the prompt ` +
    `"${prompt}" Ask me about the weather in a city, or set OPENAI_API_KEY or ANTHROPIC_API_KEY.`)
}

/** The draft that the last message asks for by its sources; undefined if it asks for none. */
function draftOf(messages: readonly BaseMessage[]): string | undefined {
  const asked = /^Topic: (.+)\n\n([^]*\n)?Sources:\n([^]+)$/.exec(messages.at(-1)?.text ?? '')
  if (asked === null) return undefined
  const [, topic, wish = '', sources] = asked
  const note = wish === '' ? '' : `\n\nChanged as you asked: ${wish.replace('Wish: ', '').trim()}`
  return `**${topic}**: what we know:\n\n${sources}\n\n` +
    `The first source is the strongest; the others agree with it.${note}`
}

function inWords(text: string): ChatGenerationChunk[] {
  return (text.match(/\s*\S+/g) ?? ['']).map((word) =>
    new ChatGenerationChunk({ text: word, message: new AIMessageChunk({ content: word }) })
  )
}

function toolCall(call: ToolCallChunk): ChatGenerationChunk {
  const message = new AIMessageChunk({ content: '', tool_call_chunks: [call] })
  return new ChatGenerationChunk({ text: '', message })
}

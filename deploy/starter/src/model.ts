/** The model of both graphs: of the provider whose API key is set, else one that works offline. */

import type { BindToolsInput } from '@langchain/core/language_models/chat_models'

/** Imports only the provider that is used. */
export async function loadModel(name?: string, tools: BindToolsInput[] = []) {
  if (process.env.OPENAI_API_KEY) {
    const { ChatOpenAI } = await import('@langchain/openai')
    return new ChatOpenAI({ model: name ?? 'gpt-4o-mini' }).bindTools(tools)
  }
  if (process.env.ANTHROPIC_API_KEY) {
    const { ChatAnthropic } = await import('@langchain/anthropic')
    return new ChatAnthropic({ model: name ?? 'claude-sonnet-4-5' }).bindTools(tools)
  }
  const { LocalModel } = await import('./local-model.ts')
  return new LocalModel({}).bindTools(tools)
}

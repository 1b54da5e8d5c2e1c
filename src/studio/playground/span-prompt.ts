/** Prompt of a call of a model, so that it can be changed and asked again. Pure. */

import type { Endpoint } from '../addresses/playground.ts'
import type { Json, JsonObject } from '../api/client.ts'
import { escaped } from '../prompts/manifest.ts'
import type { Message } from '../prompts/manifest.ts'
import { messagesIn } from '../traces/span/span-messages.ts'
import { usualUrls } from './models.ts'

/** Parts of a call of a model that a prompt can hold. */
export interface SpanPrompt {
  readonly messages: readonly Message[]
  /** Messages of tools and calls of them, which a prompt has no place for. */
  readonly leftOut: number
  readonly model: Endpoint | undefined
}

/** The prompt; undefined if no messages were asked. Braces mean themselves. */
export function promptOfSpan({ inputs, metadata }: {
  readonly inputs: Json
  readonly metadata: JsonObject | null
}): SpanPrompt | undefined {
  const all = messagesIn(inputs)
  if (all === undefined) return undefined
  const messages = all.flatMap(({ role, text }) =>
    role === 'tool' || text === '' ? [] : [{ role, content: escaped(text) }]
  )
  return { messages, leftOut: all.length - messages.length, model: modelIn(metadata ?? {}) }
}

/** As tracers write it: the name, the provider, and a temperature. */
function modelIn(
  { ls_model_name: model, ls_provider: provider, ls_temperature: temperature }: JsonObject,
): Endpoint | undefined {
  if (typeof model !== 'string' || (provider !== 'openai' && provider !== 'anthropic')) {
    return undefined
  }
  return { dialect: provider, base_url: usualUrls[provider], model,
    secret: `${provider.toUpperCase()}_API_KEY`,
    ...typeof temperature === 'number' && { temperature } }
}

/** The dialect of chat completions, which most endpoints speak. Pure. */

import { HeddleError } from '../../../errors.ts'
import { answerName, memberOf, objectAt, objectIn, tokensOf, urlBelow } from './dialect.ts'
import type { AnswerPart, Dialect, ToolPiece } from './dialect.ts'
import type { ChatMessage, ModelCall } from './model.ts'
import { sentenceIn } from './model-error.ts'

/** Requests, answers and events of the chat completions API of OpenAI. */
export const openaiDialect: Dialect = {
  request: (
    { endpoint: { url, model, parameters }, messages, schema, tools, images }: ModelCall,
    key,
    streamed,
  ) => ({
    url: urlBelow(url, '/chat/completions'),
    headers: { 'content-type': 'application/json',
      accept: streamed ? 'text/event-stream' : 'application/json',
      ...key !== null && { authorization: `Bearer ${key}` } },
    body: JSON.stringify({
      ...parameters,
      model,
      messages: withImages(messages.map(messageJson), images),
      ...tools && { tools: tools.map((tool) => ({ type: 'function', function: tool })) },
      ...schema &&
        { response_format: { type: 'json_schema', json_schema: { name: answerName, schema } } },
      stream: streamed,
      ...streamed && { stream_options: { include_usage: true } },
    }),
  }),

  answer: (body) => {
    const choice = objectAt(memberOf(body, 'choices'), 0)
    const message = objectAt(choice, 'message')
    requireNoRefusal(message)
    const text = textOf(memberOf(message, 'content'))
    const toolPieces = toolPiecesIn(message)
    if (text === undefined && toolPieces.length === 0) {
      throw new HeddleError('model_failed', 'The answer of the model has no text.')
    }
    return { text: text ?? '', toolPieces, ...endOf(choice), whole: true, ...usageOf(body) }
  },

  event: (data) => {
    if (data.trim() === '[DONE]') return { whole: true }
    const chunk = objectIn(data)
    if (memberOf(chunk, 'error') !== undefined) {
      throw new HeddleError('model_failed', `The endpoint of the model says: ${sentenceIn(data)}`)
    }
    const choice = objectAt(memberOf(chunk, 'choices'), 0)
    const delta = objectAt(choice, 'delta')
    requireNoRefusal(delta)
    const text = textOf(memberOf(delta, 'content'))
    const toolPieces = toolPiecesIn(delta)
    return { ...text !== undefined && { text }, ...toolPieces.length > 0 && { toolPieces },
      ...endOf(choice), ...usageOf(chunk) }
  },
}

/** The messages, the last one of the user with the images. */
function withImages(messages: readonly { readonly role: string; readonly content: string }[],
  images: ModelCall['images'] = []): readonly object[] {
  const last = messages.findLastIndex(({ role }) => role === 'user')
  const parts = images.map(({ mediaType, base64 }) => ({ type: 'image_url',
    image_url: { url: `data:${mediaType};base64,${base64}` } })
  )
  if (parts.length === 0) return messages
  if (last === -1) return [...messages, { role: 'user', content: parts }]
  const { content } = messages[last]!
  const text = content === '' ? [] : [{ type: 'text', text: content }]
  return [...messages.slice(0, last), { role: 'user', content: [...text, ...parts] },
    ...messages.slice(last + 1)]
}

/** Calls of tools, or pieces of them. */
function toolPiecesIn(message: unknown): readonly ToolPiece[] {
  const calls = memberOf(message, 'tool_calls')
  if (!Array.isArray(calls)) return []
  return (calls as readonly unknown[]).map((call, place) => {
    const [index, asked] = [memberOf(call, 'index'), memberOf(call, 'function')]
    const [name, args] = [memberOf(asked, 'name'), memberOf(asked, 'arguments')]
    return { at: typeof index === 'number' ? index : place, ...typeof name === 'string' && { name },
      ...typeof args === 'string' && { args } }
  })
}

/** No tool was called, so that an answer of one is what the user says. */
function messageJson({ role, content }: ChatMessage) {
  return { role: role === 'tool' ? 'user' : role, content }
}

function textOf(content: unknown): string | undefined {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return undefined
  return content.map((part) => memberOf(part, 'text')).filter((text) => typeof text === 'string')
    .join('')
}

function endOf(choice: unknown): AnswerPart {
  const reason = memberOf(choice, 'finish_reason')
  return typeof reason === 'string' ? { whole: true, outOfTokens: reason === 'length' } : {}
}

function usageOf(body: unknown): AnswerPart {
  return tokensOf(memberOf(body, 'usage'), 'prompt_tokens', 'completion_tokens')
}

function requireNoRefusal(message: unknown): void {
  const refusal = memberOf(message, 'refusal')
  if (typeof refusal !== 'string' || refusal === '') return
  throw new HeddleError('model_failed', `The model refuses to answer: ${refusal.slice(0, 500)}`)
}

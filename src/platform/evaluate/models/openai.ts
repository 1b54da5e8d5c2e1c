/** The dialect of chat completions, which most endpoints speak. Pure. */

import { HeddleError } from '../../../errors.ts'
import { answerName, memberOf, objectAt, objectIn, tokensOf, urlBelow } from './dialect.ts'
import type { AnswerPart, Dialect } from './dialect.ts'
import type { ChatMessage, ModelCall } from './model.ts'
import { sentenceIn } from './model-error.ts'

/** Requests, answers and events of the chat completions API of OpenAI. */
export const openaiDialect: Dialect = {
  request: ({ endpoint: { url, model, parameters }, messages, schema }: ModelCall, key,
    streamed) => ({
      url: urlBelow(url, '/chat/completions'),
      headers: { 'content-type': 'application/json',
        accept: streamed ? 'text/event-stream' : 'application/json',
        ...key !== null && { authorization: `Bearer ${key}` } },
      body: JSON.stringify({
        ...parameters,
        model,
        messages: messages.map(messageJson),
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
    if (text === undefined) {
      throw new HeddleError('model_failed', 'The answer of the model has no text.')
    }
    return { text, ...endOf(choice), whole: true, ...usageOf(body) }
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
    return { ...text !== undefined && { text }, ...endOf(choice), ...usageOf(chunk) }
  },
}

/** No tool was called, so that an answer of one is what the user says. */
function messageJson({ role, content }: ChatMessage): object {
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

/** The dialect of messages, which the endpoints of Anthropic speak. Pure. */

import { HeddleError } from '../../../errors.ts'
import { answerName, memberOf, objectAt, objectIn, tokensOf, urlBelow } from './dialect.ts'
import type { AnswerPart, Dialect } from './dialect.ts'
import type { ChatMessage, ModelCall } from './model.ts'
import { sentenceIn } from './model-error.ts'

/** Tokens of an answer, which a request must bound. */
const defaultTokens = 4_096

/** Messages. An answer by a schema comes as the input of a tool that must be called. */
export const anthropicDialect: Dialect = {
  request: ({ endpoint: { url, model, parameters }, messages, schema }: ModelCall, key,
    streamed) => ({
      url: urlBelow(url, new URL(url).pathname.includes('/v1') ? '/messages' : '/v1/messages'),
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01',
        accept: streamed ? 'text/event-stream' : 'application/json',
        ...key !== null && { 'x-api-key': key } },
      body: JSON.stringify({
        max_tokens: defaultTokens,
        ...parameters,
        model,
        ...conversation(messages),
        ...schema && {
          tools: [{ name: answerName, description: 'Takes the answer.',
            input_schema: { type: 'object', ...schema } }],
          tool_choice: { type: 'tool', name: answerName },
        },
        stream: streamed,
      }),
    }),

  answer: (body, { schema }) => {
    const content = memberOf(body, 'content')
    const blocks = Array.isArray(content) ? content as unknown[] : []
    const texts = blocks.flatMap((block) => {
      if (schema === undefined) return [memberOf(block, 'text')]
      const input = memberOf(block, 'input')
      return input === undefined ? [] : [JSON.stringify(input)]
    }).filter((text) => typeof text === 'string')
    if (texts.length === 0) {
      throw new HeddleError('model_failed', 'The answer of the model has no text.')
    }
    return { text: texts.join(''), ...endOf(body), whole: true, ...usageOf(body) }
  },

  event: (data) => {
    const event = objectIn(data)
    switch (memberOf(event, 'type')) {
      case 'error':
        throw new HeddleError('model_failed', `The endpoint of the model says: ${sentenceIn(data)}`)
      case 'message_start':
        return usageOf(objectAt(event, 'message'))
      case 'content_block_delta': {
        const delta = objectAt(event, 'delta')
        const text = memberOf(delta, 'text') ?? memberOf(delta, 'partial_json')
        return typeof text === 'string' ? { text } : {}
      }
      case 'message_delta':
        return { ...endOf(objectAt(event, 'delta')), ...usageOf(event) }
      case 'message_stop':
        return { whole: true }
      default:
        return {}
    }
  },
}

/** The system's messages stand apart. If there are no others, they are the question. */
function conversation(messages: readonly ChatMessage[]): object {
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content)
    .join('\n\n')
  const others = messages.filter(({ role }) => role !== 'system')
    .map(({ role, content }) => ({ role: role === 'assistant' ? role : 'user', content }))
  if (others.length === 0) return { messages: [{ role: 'user', content: system }] }
  return { ...system !== '' && { system }, messages: others }
}

function endOf(message: unknown): AnswerPart {
  const reason = memberOf(message, 'stop_reason')
  return typeof reason === 'string' ? { outOfTokens: reason === 'max_tokens' } : {}
}

function usageOf(message: unknown): AnswerPart {
  return tokensOf(memberOf(message, 'usage'), 'input_tokens', 'output_tokens')
}

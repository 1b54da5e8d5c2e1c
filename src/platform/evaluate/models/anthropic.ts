/** The dialect of messages, which the endpoints of Anthropic speak. Pure. */

import { HeddleError } from '../../../errors.ts'
import { answerName, memberOf, objectAt, objectIn, tokensOf, urlBelow } from './dialect.ts'
import type { AnswerPart, Dialect, ToolPiece } from './dialect.ts'
import type { ChatMessage, ModelCall } from './model.ts'
import { sentenceIn } from './model-error.ts'

/** Tokens of an answer, which a request must bound. */
const defaultTokens = 4_096

/** Messages. An answer by a schema comes as the input of a tool that must be called. */
export const anthropicDialect: Dialect = {
  request: (
    { endpoint: { url, model, parameters }, messages, schema, tools, images }: ModelCall,
    key,
    streamed,
  ) => ({
    url: urlBelow(url, new URL(url).pathname.includes('/v1') ? '/messages' : '/v1/messages'),
    headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01',
      accept: streamed ? 'text/event-stream' : 'application/json',
      ...key !== null && { 'x-api-key': key } },
    body: JSON.stringify({
      max_tokens: defaultTokens,
      ...parameters,
      model,
      ...conversation(messages, images),
      ...tools &&
        {
          tools: tools.map(({ parameters: schema, ...tool }) => ({ ...tool,
            input_schema: { type: 'object', ...schema } })
          ),
        },
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
    const toolPieces = schema === undefined ? blocks.flatMap(toolPieceOf) : []
    if (texts.length === 0 && toolPieces.length === 0) {
      throw new HeddleError('model_failed', 'The answer of the model has no text.')
    }
    return { text: texts.join(''), toolPieces, ...endOf(body), whole: true, ...usageOf(body) }
  },

  event: (data, { tools }) => {
    const event = objectIn(data)
    switch (memberOf(event, 'type')) {
      case 'error':
        throw new HeddleError('model_failed', `The endpoint of the model says: ${sentenceIn(data)}`)
      case 'message_start':
        return usageOf(objectAt(event, 'message'))
      case 'content_block_start': {
        const block = objectAt(event, 'content_block')
        return tools && block['type'] === 'tool_use'
          ? { toolPieces: [{ at: placeOf(event), ...nameOf(block) }] }
          : {}
      }
      case 'content_block_delta': {
        const delta = objectAt(event, 'delta')
        const args = memberOf(delta, 'partial_json')
        if (tools && typeof args === 'string') {
          return { toolPieces: [{ at: placeOf(event), args }] }
        }
        const text = memberOf(delta, 'text') ?? args
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

/** A block of a whole answer that calls a tool. */
function toolPieceOf(block: unknown, at: number): readonly ToolPiece[] {
  if (memberOf(block, 'type') !== 'tool_use') return []
  return [{ at, ...nameOf(block), args: JSON.stringify(memberOf(block, 'input') ?? {}) }]
}

function nameOf(block: unknown): Pick<ToolPiece, 'name'> {
  const name = memberOf(block, 'name')
  return typeof name === 'string' ? { name } : {}
}

function placeOf(event: unknown): number {
  const index = memberOf(event, 'index')
  return typeof index === 'number' ? index : 0
}

/** The system's messages stand apart. If there are no others, they are the question. */
function conversation(messages: readonly ChatMessage[], images: ModelCall['images'] = []): object {
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content)
    .join('\n\n')
  const others = messages.filter(({ role }) => role !== 'system')
    .map(({ role, content }) => ({ role: role === 'assistant' ? role : 'user', content }))
  if (others.length === 0) {
    return { messages: withImages([{ role: 'user', content: system }], images) }
  }
  return { ...system !== '' && { system }, messages: withImages(others, images) }
}

/** The messages, the last one of the user with the images, which come before its text. */
function withImages(messages: readonly { readonly role: string; readonly content: string }[],
  images: NonNullable<ModelCall['images']>): readonly object[] {
  if (images.length === 0) return messages
  const parts = images.map(({ mediaType, base64 }) => ({ type: 'image',
    source: { type: 'base64', media_type: mediaType, data: base64 } })
  )
  const last = messages.findLastIndex(({ role }) => role === 'user')
  if (last === -1) return [...messages, { role: 'user', content: parts }]
  const { content } = messages[last]!
  const text = content === '' ? [] : [{ type: 'text', text: content }]
  return [...messages.slice(0, last), { role: 'user', content: [...parts, ...text] },
    ...messages.slice(last + 1)]
}

function endOf(message: unknown): AnswerPart {
  const reason = memberOf(message, 'stop_reason')
  return typeof reason === 'string' ? { outOfTokens: reason === 'max_tokens' } : {}
}

function usageOf(message: unknown): AnswerPart {
  return tokensOf(memberOf(message, 'usage'), 'input_tokens', 'output_tokens')
}

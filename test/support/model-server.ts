/** The endpoint of a model: answers in both dialects what a test has it say. */

import type { ServerResponse } from 'node:http'

import { openReceiver } from './receiver.ts'
import type { Received, Receiver } from './receiver.ts'

/** What the model does with its next questions. */
export interface Script {
  /** Pieces of its answer; for a schema, pieces of JSON. */
  readonly pieces: readonly string[]
  /** Called between the pieces of a streamed answer. */
  between?(index: number): Promise<void>
  /** Answers in another way. */
  instead?(received: Received, response: ServerResponse): void
}

/** A model that a test must close. */
export interface ModelServer extends Receiver {
  /** What it does from now on. */
  does(script: Script): void
  /** Bodies of all questions, oldest first. */
  readonly asked: readonly Readonly<Record<string, unknown>>[]
}

/** Tokens that each of its answers says. */
export const modelTokens = { input: 12, output: 7 } as const
const { input: inputTokens, output: outputTokens } = modelTokens

/** The models that it lists. The second one is no model to chat with. */
const listed = [{ id: 'small-local' }, { id: 'text-embed-1' }]

/** Opens a model. Its base is its URL with `v1`, for both dialects. */
export async function openModel(pieces: readonly string[] = ['Hello', ' there']): Promise<
  ModelServer
> {
  let script: Script = { pieces }
  const receiver = await openReceiver((received, response) => {
    if (received.method === 'GET') return void response.end(JSON.stringify({ data: listed }))
    if (script.instead) return script.instead(received, response)
    const asked = JSON.parse(received.body) as Record<string, unknown>
    const speaks = received.path.endsWith('/messages') ? anthropic(asked) : openai
    if (asked['stream'] === true) return void streamed(script, speaks, response)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(speaks.whole(script.pieces.join(''))))
  })
  return {
    ...receiver,
    does: (next) => void (script = next),
    get asked() {
      return receiver.received.filter(({ method }) => method === 'POST').map(({ body }) =>
        JSON.parse(body) as Record<string, unknown>
      )
    },
  }
}

interface Speech {
  whole(text: string): object
  readonly first: string
  piece(text: string): string
  readonly last: string
}

async function streamed({ pieces, between }: Script, speech: Speech,
  response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(speech.first)
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await between?.(index)
    response.write(speech.piece(piece))
  }
  response.end(speech.last)
}

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const chunk = (delta: object, reason: string | null = null) =>
  data({ object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: reason }] })

const openai: Speech = {
  whole: (content) => ({
    choices: [{ message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: inputTokens, completion_tokens: outputTokens },
  }),
  first: chunk({ role: 'assistant', content: '' }),
  piece: (content) => chunk({ content }),
  last: chunk({}, 'stop') +
    data({ choices: [], usage: { prompt_tokens: inputTokens, completion_tokens: outputTokens } }) +
    'data: [DONE]\n\n',
}

/** With a tool, the answer is its input. */
function anthropic({ tools }: Readonly<Record<string, unknown>>): Speech {
  const event = (type: string, more: object = {}) => `event: ${type}\n${data({ type, ...more })}`
  const usage = { input_tokens: inputTokens, output_tokens: outputTokens }
  return {
    whole: (text) => ({
      content: tools === undefined
        ? [{ type: 'text', text }]
        : [{ type: 'tool_use', id: 't', name: 'answer', input: JSON.parse(text) as unknown }],
      stop_reason: 'end_turn',
      usage,
    }),
    first: event('message_start', {
      message: { usage: { input_tokens: inputTokens, output_tokens: 1 } },
    }) + event('ping') + event('content_block_start', { index: 0 }),
    piece: (text) =>
      event('content_block_delta', { index: 0, delta: tools === undefined
        ? { type: 'text_delta', text }
        : { type: 'input_json_delta', partial_json: text } }),
    last: event('content_block_stop', { index: 0 }) +
      event('message_delta', { delta: { stop_reason: 'end_turn' },
        usage: { output_tokens: outputTokens } }) +
      event('message_stop'),
  }
}

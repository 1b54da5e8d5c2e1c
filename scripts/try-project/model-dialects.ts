/** The words in which OpenAI, Anthropic and Google are asked, and in which they answer. */

import type { Answer, Question, Schema } from './model-answer.ts'

/** One way to ask a model. */
export interface Dialect {
  questionOf(body: Schema): Question
  whole(answer: Answer, body: Schema): object
  /** The whole answer as server-sent events. */
  events(answer: Answer): string
}

type List = readonly Schema[]

/** The dialect of a path; undefined if no model answers there. */
export function dialectOf(path: string): Dialect | undefined {
  if (path.endsWith('/chat/completions')) return openai
  if (path.endsWith('/embeddings')) return embeddings
  if (path.endsWith('/messages')) return anthropic
  return /:(?:streamG|g)enerateContent$/.test(path) ? google : undefined
}

const listAt = (value: Schema | undefined, key: string) => (value?.[key] ?? []) as List
const schemaAt = (value: Schema | undefined, key: string) => value?.[key] as Schema | undefined
const textAt = (value: Schema | undefined, key: string) => value?.[key] as string | undefined
const event = (data: unknown, type?: string) =>
  `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(data)}\n\n`

/** Whether a tool answered after the last thing that was said to the model. */
function toolAnswered(messages: List, isTool: (message: Schema) => boolean): boolean {
  const last = messages.at(-1)
  return last !== undefined && isTool(last)
}

const usage = { prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 }

const openai: Dialect = {
  questionOf: (body) => ({
    tools: listAt(body, 'tools').map((tool) => schemaAt(tool, 'function'))
      .map((tool) => ({ name: textAt(tool, 'name')!, schema: schemaAt(tool, 'parameters') })),
    forced: body['tool_choice'] === 'required' || body['tool_choice'] === 'any'
      ? ''
      : textAt(schemaAt(asObject(body['tool_choice']), 'function'), 'name'),
    hasToolAnswer: toolAnswered(listAt(body, 'messages'), ({ role }) => role === 'tool'),
    format: schemaAt(schemaAt(schemaAt(body, 'response_format'), 'json_schema'), 'schema'),
  }),
  whole: (answer) => ({
    id: 'chatcmpl-stub',
    object: 'chat.completion',
    created: 1,
    model: 'stub',
    choices: [{ index: 0, message: openaiMessage(answer), finish_reason: openaiEnd(answer) }],
    usage,
  }),
  events: (answer) => {
    const chunk = (choices: List, more: object = {}) =>
      event({ id: 'chatcmpl-stub', object: 'chat.completion.chunk', created: 1, model: 'stub',
        choices, ...more })
    return chunk([{ index: 0, delta: openaiMessage(answer), finish_reason: null }]) +
      chunk([{ index: 0, delta: {}, finish_reason: openaiEnd(answer) }]) +
      chunk([], { usage }) + 'data: [DONE]\n\n'
  },
}

function asObject(value: unknown): Schema | undefined {
  return typeof value === 'object' && value !== null ? value as Schema : undefined
}

function openaiMessage(answer: Answer): object {
  if (answer.kind === 'text') return { role: 'assistant', content: answer.text }
  const called = { name: answer.name, arguments: JSON.stringify(answer.input) }
  return { role: 'assistant', content: null,
    tool_calls: [{ index: 0, id: 'call_stub', type: 'function', function: called }] }
}

const openaiEnd = ({ kind }: Answer) => kind === 'call' ? 'tool_calls' : 'stop'

/** Vectors of 1536 numbers, as those of the usual model. */
const embeddings: Dialect = {
  questionOf: () => ({ tools: [], forced: undefined, hasToolAnswer: false, format: undefined }),
  whole: (_, body) => ({
    object: 'list',
    model: 'stub',
    usage,
    data: [body['input']].flat().map((_input, index) => {
      const vector = new Float32Array(1536).fill(0.025)
      return { object: 'embedding', index, embedding: body['encoding_format'] === 'base64'
        ? Buffer.from(vector.buffer).toString('base64')
        : [...vector] }
    }),
  }),
  events: () => '',
}

const anthropic: Dialect = {
  questionOf: (body) => {
    const choice = schemaAt(body, 'tool_choice')
    return {
      tools: listAt(body, 'tools').map((tool) => ({ name: textAt(tool, 'name')!,
        schema: schemaAt(tool, 'input_schema') })
      ),
      forced: choice?.['type'] === 'any' ? '' : textAt(choice, 'name'),
      hasToolAnswer: toolAnswered(listAt(body, 'messages'),
        ({ content }) =>
          Array.isArray(content) && (content as List).some(({ type }) => type === 'tool_result')),
      format: undefined,
    }
  },
  whole: (answer) => ({ id: 'msg_stub', type: 'message', role: 'assistant', model: 'stub',
    content: [anthropicBlock(answer)], stop_reason: anthropicEnd(answer), stop_sequence: null,
    usage: { input_tokens: 12, output_tokens: 7 } }),
  events: (answer) => {
    const said = (type: string, more: object = {}) => event({ type, ...more }, type)
    const delta = answer.kind === 'text'
      ? { type: 'text_delta', text: answer.text }
      : { type: 'input_json_delta', partial_json: JSON.stringify(answer.input) }
    const block = answer.kind === 'text' ? { type: 'text', text: '' } : {
      ...anthropicBlock(answer),
      input: {},
    }
    return said('message_start', {
      message: { id: 'msg_stub', type: 'message', role: 'assistant', model: 'stub', content: [],
        stop_reason: null, stop_sequence: null, usage: { input_tokens: 12, output_tokens: 1 } },
    }) +
      said('content_block_start', { index: 0, content_block: block }) +
      said('content_block_delta', { index: 0, delta }) +
      said('content_block_stop', { index: 0 }) +
      said('message_delta', { delta: { stop_reason: anthropicEnd(answer), stop_sequence: null },
        usage: { output_tokens: 7 } }) +
      said('message_stop')
  },
}

const anthropicBlock = (answer: Answer) =>
  answer.kind === 'text'
    ? { type: 'text', text: answer.text }
    : { type: 'tool_use', id: 'toolu_stub', name: answer.name, input: answer.input }

const anthropicEnd = ({ kind }: Answer) => kind === 'call' ? 'tool_use' : 'end_turn'

const google: Dialect = {
  questionOf: (body) => {
    const calling = schemaAt(schemaAt(body, 'toolConfig'), 'functionCallingConfig')
    return {
      tools: listAt(body, 'tools').flatMap((tool) => listAt(tool, 'functionDeclarations'))
        .map((tool) => ({ name: textAt(tool, 'name')!,
          schema: lowerCased(schemaAt(tool, 'parameters')) })
        ),
      forced: calling?.['mode'] === 'ANY'
        ? (calling['allowedFunctionNames'] as readonly string[] | undefined)?.[0] ?? ''
        : undefined,
      hasToolAnswer: toolAnswered(listAt(body, 'contents'),
        (content) => listAt(content, 'parts').some((part) => 'functionResponse' in part)),
      format: lowerCased(schemaAt(schemaAt(body, 'generationConfig'), 'responseSchema')),
    }
  },
  whole: googleAnswer,
  events: (answer) => event(googleAnswer(answer)),
}

/** Google writes types in capitals. */
function lowerCased(schema: Schema | undefined): Schema | undefined {
  return schema &&
    JSON.parse(
      JSON.stringify(schema,
        (key, value: unknown) =>
          key === 'type' && typeof value === 'string' ? value.toLowerCase() : value),
    ) as Schema
}

function googleAnswer(answer: Answer): object {
  const part = answer.kind === 'text'
    ? { text: answer.text }
    : { functionCall: { name: answer.name, args: answer.input } }
  return {
    candidates: [{ index: 0, finishReason: 'STOP', content: { role: 'model', parts: [part] } }],
    usageMetadata: { promptTokenCount: 12, candidatesTokenCount: 7, totalTokenCount: 19 },
  }
}

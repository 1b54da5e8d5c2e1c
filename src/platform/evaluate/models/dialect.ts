/** Formats of the requests, the answers and the events of an endpoint. Pure. */

import { HeddleError } from '../../../errors.ts'
import { isObject } from '../../../json/index.ts'
import type { ModelAnswer, ModelCall, ToolCall } from './model.ts'

/** A request to an endpoint. */
export interface ModelRequest {
  readonly url: string
  /** Headers by names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Text, token counts and end of a whole answer, or of one event of it. */
export interface AnswerPart {
  readonly text?: string
  /** Pieces of calls of tools, which belong together by their place. */
  readonly toolPieces?: readonly ToolPiece[]
  readonly inputTokens?: number
  readonly outputTokens?: number
  /** True if it ends because no more tokens were allowed. */
  readonly outOfTokens?: boolean
  /** True if nothing of the answer is missing. */
  readonly whole?: boolean
}

/** A piece of a call of a tool. */
export interface ToolPiece {
  readonly at: number
  readonly name?: string
  /** A part of the JSON of its arguments. */
  readonly args?: string
}

/** One way to speak. What is read throws `model_failed` if it makes no sense. */
export interface Dialect {
  request(call: ModelCall, key: string | null, streamed: boolean): ModelRequest
  /** Reads a whole answer. */
  answer(body: Readonly<Record<string, unknown>>, call: ModelCall): AnswerPart
  /** Reads one event of a streamed answer. */
  event(data: string, call: ModelCall): AnswerPart
}

/** The name of the tool or format by which an answer follows a schema. */
export const answerName = 'answer'

/** The URL of a path below the base of an API. A base that has the path already is kept. */
export function urlBelow(base: string, path: string): string {
  const url = new URL(base)
  const above = url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : url.pathname
  if (!above.endsWith(path)) url.pathname = above + path
  return url.href
}

/** The object in a text. */
export function objectIn(text: string): Readonly<Record<string, unknown>> {
  const value = parsed(text)
  if (isObject(value)) return value
  throw new HeddleError('model_failed',
    'The endpoint of the model answered what is no JSON object.')
}

/** The member if it is an object; else an empty one. */
export function objectAt(value: unknown, name: string | number): Readonly<Record<string, unknown>> {
  const member = memberOf(value, name)
  return isObject(member) ? member : {}
}

/** The member of an object, or the element of a list; undefined if there is none. */
export function memberOf(value: unknown, name: string | number): unknown {
  if (Array.isArray(value)) return typeof name === 'number' ? value[name] as unknown : undefined
  return isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** The counts of tokens that are counts. */
export function tokensOf(usage: unknown, input: string,
  output: string): Pick<AnswerPart, 'inputTokens' | 'outputTokens'> {
  const [inputTokens, outputTokens] = [memberOf(usage, input), memberOf(usage, output)]
  return { ...isCount(inputTokens) && { inputTokens },
    ...isCount(outputTokens) && { outputTokens } }
}

/** The answer that parts make. Throws `model_failed` if it is not whole, or not as asked for. */
export function answerOf(
  { text = '', toolPieces = [], inputTokens, outputTokens, outOfTokens, whole }: AnswerPart,
  { schema }: Pick<ModelCall, 'schema'>,
): ModelAnswer {
  if (whole !== true) throw failed('The answer of the model ended before it was whole.')
  const usage = inputTokens === undefined && outputTokens === undefined
    ? null
    : { inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 }
  const toolCalls = toolCallsOf(toolPieces)
  if (schema === undefined) return { text, ...toolCalls.length > 0 && { toolCalls }, usage }
  const json = text.length > jsonCharactersMax ? undefined : parsed(withoutFence(text))
  if (json !== undefined && (isObject(json) || schema['type'] !== 'object')) {
    return { text, json, usage }
  }
  throw failed(outOfTokens === true
    ? 'The answer of the model was cut, because no more tokens were allowed: raise `max_tokens`.'
    : 'The answer of the model is not the JSON that its schema asks for.')
}

/** The parts as one. Texts follow each other; of the rest, the newer counts. */
export function joined(before: AnswerPart, part: AnswerPart): AnswerPart {
  const { text, toolPieces, ...rest } = part
  return { ...before, ...rest, ...text !== undefined && { text: (before.text ?? '') + text },
    ...toolPieces && { toolPieces: [...before.toolPieces ?? [], ...toolPieces] } }
}

/** Calls of tools in one answer at most. */
const toolCallsMax = 128

/** The calls that pieces make. */
function toolCallsOf(pieces: readonly ToolPiece[]): readonly ToolCall[] {
  const calls = new Map<number, { name: string; args: string[] }>()
  for (const { at, name, args } of pieces) {
    const call = calls.get(at) ?? { name: '', args: [] }
    if (name !== undefined && call.name === '') call.name = name
    if (args !== undefined) call.args.push(args)
    if (calls.has(at) || calls.size < toolCallsMax) calls.set(at, call)
  }
  return [...calls.values()].map(({ name, args }) => {
    const text = args.join('')
    return { name, args: text === '' ? {} : parsed(text) ?? text }
  })
}

/** Characters of an answer that is parsed: that holds up others. */
const jsonCharactersMax = 1024 * 1024

const fence = '```'

function failed(message: string): HeddleError {
  return new HeddleError('model_failed', message)
}

/** Undefined if it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

/** Some models put their JSON between the marks of a code block. */
function withoutFence(text: string): string {
  const inner = text.trim()
  if (!inner.startsWith(fence) || !inner.endsWith(fence)) return text
  return inner.slice(inner.indexOf('\n') + 1, -fence.length)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

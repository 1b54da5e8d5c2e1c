/** Messages of a chat, and how the pieces of one become a whole: as the official client does it. */

import { isObject } from '../json/is-object.ts'
import { jsonOrText } from '../json/json-text.ts'

/** A call of a tool that a model wants. */
export interface ToolCall {
  readonly id?: string | null | undefined
  readonly name: string
  /** An object; the text so far while it is incomplete. */
  readonly args: unknown
}

/** A piece of a call, of which the arguments come as text. */
interface ToolCallChunk {
  readonly index?: number | string | null
  readonly id?: string | null
  readonly name?: string | null
  readonly args?: string | null
}

/** Tokens that a model took and gave. */
export interface Usage {
  readonly input_tokens?: number
  readonly output_tokens?: number
  readonly total_tokens?: number
}

/** A message as the API shows it, or a piece of one. */
export interface ChatMessage {
  readonly id?: string | null
  readonly type: string
  readonly content: unknown
  readonly name?: string | null
  readonly tool_calls?: readonly ToolCall[]
  readonly tool_call_chunks?: readonly ToolCallChunk[]
  /** Of the result of a tool. */
  readonly tool_call_id?: string
  readonly status?: string
  readonly usage_metadata?: Usage | null | undefined
  readonly additional_kwargs?: unknown
}

type Fields = Readonly<Record<string, unknown>>

/** The kind of a message: `ai` for a piece that calls itself `AIMessageChunk`. */
export const kindOf = ({ type }: Pick<ChatMessage, 'type'>): string =>
  type.endsWith('MessageChunk') ? type.slice(0, -'MessageChunk'.length).toLowerCase() : type

/** A message with one more piece of it. */
export function withPiece(before: ChatMessage | undefined, piece: ChatMessage): ChatMessage {
  const whole = { ...piece, type: kindOf(piece) }
  if (before === undefined) return withCalls(whole)
  const usage: Usage | undefined = mergedFields({ ...before.usage_metadata }, {
    ...piece.usage_metadata,
  })
  return withCalls({
    ...before,
    content: mergedContent(before.content, piece.content),
    ...piece.name != null && { name: piece.name },
    ...(before.usage_metadata ?? piece.usage_metadata) != null && { usage_metadata: usage },
    tool_call_chunks: mergedLists(before.tool_call_chunks ?? [],
      piece.tool_call_chunks ?? []) as readonly ToolCallChunk[],
    ...piece.tool_calls !== undefined && piece.tool_calls.length > 0 &&
      { tool_calls: piece.tool_calls },
  })
}

function withCalls(message: ChatMessage): ChatMessage {
  const { tool_call_chunks: chunks = [] } = message
  if (chunks.length === 0) return message
  return { ...message,
    tool_calls: chunks.map(({ id, name, args }) => ({ id, name: name ?? '',
      args: args ? jsonOrText(args) : {} })
    ) }
}

/** Two contents after each other: texts, or lists of parts. */
function mergedContent(first: unknown, second: unknown): unknown {
  if (typeof first === 'string' && typeof second === 'string') return first + second
  if (first === '' || first === undefined) return second
  if (second === '' || second === undefined) return first
  if (Array.isArray(second) && second.length === 0) return first
  return mergedLists(partsOf(first), partsOf(second))
}

const partsOf = (content: unknown): readonly unknown[] =>
  Array.isArray(content) ? content : [{ type: 'text', text: String(content) }]

/** Lists whose elements are one where their `index` (or without one, their `id`) is the same. */
function mergedLists(first: readonly unknown[], second: readonly unknown[]): readonly unknown[] {
  const merged = [...first]
  for (const item of second) {
    const at = merged.findIndex((each) => isSame(each, item))
    if (at >= 0) merged[at] = mergedFields(merged[at] as Fields, item as Fields)
    else if (!isEmptyText(item)) merged.push(item)
  }
  return merged
}

const isEmptyText = (item: unknown) => isObject(item) && item['text'] === ''

function isSame(left: unknown, right: unknown): boolean {
  if (!isObject(left) || !isObject(right)) return false
  const hasIndex = isIndex(left['index'])
  if (hasIndex !== isIndex(right['index'])) return false
  const hasIds = isId(left['id']) && isId(right['id'])
  if (!hasIndex) return hasIds && left['id'] === right['id']
  if (left['index'] !== right['index'] || isOtherKind(left['type'], right['type'])) return false
  return !hasIds || left['id'] === right['id']
}

const isIndex = (index: unknown) => typeof index === 'number' || typeof index === 'string'
const isId = (id: unknown) => id != null && id !== ''
const baseOf = (type: string) => type.replace(/_delta$/, '')
const isOtherKind = (left: unknown, right: unknown) =>
  typeof left === 'string' && typeof right === 'string' && baseOf(left) !== baseOf(right)

/** Names that stay, and names of which the later one holds. */
const kept = new Set(['type', 'index', 'created', 'timestamp'])
const replaced = new Set(['id', 'name', 'output_version', 'model_provider'])

function mergedFields(first: Fields | null | undefined, second: Fields | null | undefined):
  | Fields
  | undefined {
  if (first == null || second == null) return first ?? second ?? undefined
  const merged: Record<string, unknown> = { ...first }
  for (const [key, value] of Object.entries(second)) {
    merged[key] = mergedField(key, merged[key], value)
  }
  return merged
}

function mergedField(key: string, first: unknown, second: unknown): unknown {
  if (first == null) return second
  if (second == null || kept.has(key)) return first
  if (replaced.has(key)) return second === '' ? first : second
  if (typeof first === 'string' && typeof second === 'string') return first + second
  if (typeof first === 'number' && typeof second === 'number') return first + second
  if (Array.isArray(first) && Array.isArray(second)) return mergedLists(first, second)
  if (isObject(first) && isObject(second)) return mergedFields(first, second)
  return second
}

/** A chat message as protocol v2 streams it: a start, its blocks as they grow, a finish. */

import { isObject, listOf, valueIn } from '../../json/index.ts'

/** The `data` of a `messages` event. */
export type MessageData = { readonly event: string } & Readonly<Record<string, unknown>>

/** Part of an answer as models stream it, of any copy of the library. */
export interface MessageChunk {
  readonly id?: string
  readonly content?: unknown
  readonly tool_call_chunks?: readonly ToolCallChunk[]
  readonly tool_calls?: readonly Record<string, unknown>[]
  readonly additional_kwargs?: { readonly reasoning_content?: unknown }
  readonly usage_metadata?: Readonly<Record<string, unknown>>
  readonly response_metadata?: Readonly<Record<string, unknown>>
  readonly tool_call_id?: string
  _getType?(): string
}

interface ToolCallChunk {
  readonly index?: number
  readonly id?: string
  readonly name?: string
  readonly args?: string
}

/** A block that grows. */
interface Block {
  readonly index: number
  readonly key: string
  readonly type: 'text' | 'reasoning' | 'tool_call_chunk'
  text: string
  id?: string | undefined
  name?: string | undefined
  /** Arguments are sent again, as a whole, when they are this long. */
  dueLength: number
}

/**
 * Factor by which arguments grow before they are sent again, so that all bytes sent stay linear.
 */
const growth = 1.25

/** Members of content that say the same as `tool_call_chunks`. */
const toolParts: ReadonlySet<string> = new Set(['tool_use', 'input_json_delta', 'tool_call',
  'tool_call_chunk'])

/** Takes the chunks of one answer. Its events go to `notify`, in order. */
export class StreamedMessage {
  readonly #id: string
  readonly #notify: (data: MessageData) => void
  readonly #blocks = new Map<string, Block>()
  #next = 0
  /** The block that the last chunk went to: blocks before it are complete. */
  #open: Block | undefined
  #usage: Readonly<Record<string, unknown>> | undefined
  #reason: string | undefined

  constructor(id: string, notify: (data: MessageData) => void) {
    this.#id = id
    this.#notify = notify
  }

  start(role: string, toolCallId?: string): void {
    this.#send({ event: 'message-start', role, id: this.#id,
      ...toolCallId !== undefined && { tool_call_id: toolCallId } })
  }

  /** The next chunk. */
  add(chunk: MessageChunk): void {
    const reasoning = chunk.additional_kwargs?.reasoning_content
    if (typeof reasoning === 'string' && reasoning !== '') this.#reasoning('kwargs', reasoning)
    this.#content(chunk.content)
    for (const part of chunk.tool_call_chunks ?? []) this.#toolCall(part)
    this.#end(chunk)
  }

  /** A message that comes as a whole. */
  whole(message: MessageChunk): void {
    this.#content(message.content)
    for (const { id, name, args } of message.tool_calls ?? []) {
      this.#block({ type: 'tool_call', id, name, args })
    }
    this.#end(message)
    this.finish()
  }

  /** No chunk comes any more. */
  finish(): void {
    for (const block of this.#blocks.values()) this.#close(block)
    const { event, ...end } = { event: 'message-finish', ...this.#usage && { usage: this.#usage },
      ...this.#reason !== undefined && { reason: this.#reason } }
    this.#send({ event, ...end })
  }

  /** The call has failed, or was cancelled. */
  fail(message: string): void {
    this.#send({ event: 'error', message })
  }

  #content(content: unknown): void {
    if (typeof content === 'string') {
      if (content !== '') this.#text('', content)
      return
    }
    for (const part of listOf(content)) {
      if (typeof part === 'string') this.#text('', part)
      else if (isObject(part)) this.#part(part)
    }
  }

  #part(part: Part): void {
    const { type, index = '' } = part
    const thought = part.reasoning ?? part.thinking
    if (type === 'text' || type === 'text_delta') this.#text(String(index), part.text ?? '')
    else if (typeof thought === 'string') this.#reasoning(String(index), thought)
    else if (!toolParts.has(type ?? '')) this.#block(part)
  }

  #text(key: string, text: string): void {
    if (text === '') return
    this.#grow('text', key, text, { type: 'text-delta', text })
  }

  #reasoning(key: string, reasoning: string): void {
    if (reasoning === '') return
    this.#grow('reasoning', key, reasoning, { type: 'reasoning-delta', reasoning })
  }

  #grow(type: 'text' | 'reasoning', key: string, text: string, delta: object): void {
    const isSame = this.#open?.type === type && (key === '' || this.#open.key === `${type}:${key}`)
    const block = isSame ? this.#open! : this.#begin(type, `${type}:${key}`)
    block.text += text
    this.#send({ event: 'content-block-delta', index: block.index, delta })
  }

  /** Older clients do not know deltas of arguments: they get all that there is so far. */
  #toolCall({ index, id, name, args = '' }: ToolCallChunk): void {
    const key = `tool:${index ?? id ?? ''}`
    let block = this.#blocks.get(key)
    if (!block) {
      block = this.#begin('tool_call_chunk', key, { id, name })
    } else {
      block.id ??= id
      block.name ??= name
    }
    block.text += args
    if (block.text.length < block.dueLength) return
    block.dueLength = Math.max(block.text.length + 1, Math.floor(block.text.length * growth))
    this.#send({ event: 'content-block-delta', index: block.index,
      delta: { type: 'block-delta', fields: chunkOf(block) } })
  }

  /** A block that begins ends those of other kinds: models send one after another. */
  #begin(type: Block['type'], key: string, { id, name }: ToolCallChunk = {}): Block {
    if (this.#open && this.#open.type !== 'tool_call_chunk') this.#close(this.#open)
    // Text after a tool call is a block of its own.
    const unique = this.#blocks.has(key) ? `${key}:${this.#next}` : key
    const block: Block = { index: this.#next++, key, type, text: '', id, name, dueLength: 1 }
    this.#blocks.set(unique, block)
    this.#open = block
    this.#send({ event: 'content-block-start', index: block.index, content: emptyOf(block) })
    return block
  }

  #close(block: Block): void {
    for (const [key, each] of this.#blocks) if (each === block) this.#blocks.delete(key)
    if (this.#open === block) this.#open = undefined
    this.#send({ event: 'content-block-finish', index: block.index, content: wholeOf(block) })
  }

  /** A block that does not grow. */
  #block(content: object): void {
    if (this.#open && this.#open.type !== 'tool_call_chunk') this.#close(this.#open)
    const index = this.#next++
    this.#send({ event: 'content-block-start', index, content })
    this.#send({ event: 'content-block-finish', index, content })
  }

  #end({ usage_metadata: usage, response_metadata: metadata }: MessageChunk): void {
    if (usage) this.#usage = this.#usage ? summed(this.#usage, usage) : usage
    const reason = metadata?.finish_reason ?? metadata?.stop_reason
    if (typeof reason === 'string') this.#reason = reason
  }

  /**
   * Answers of one node may stream at the same time. Clients for JavaScript tell them apart by
   * `run_id`, those for Python by `message_id`.
   */
  #send({ event, ...data }: MessageData): void {
    this.#notify({ event, run_id: this.#id, message_id: this.#id, ...data })
  }
}

interface Part {
  readonly type?: string
  readonly index?: number | string
  readonly text?: string
  readonly reasoning?: unknown
  readonly thinking?: unknown
}

function chunkOf({ id, name, text }: Block): Record<string, unknown> {
  return { type: 'tool_call_chunk', id: id ?? null, name: name ?? null, args: text }
}

function emptyOf(block: Block): Record<string, unknown> {
  if (block.type === 'text') return { type: 'text', text: '' }
  if (block.type === 'reasoning') return { type: 'reasoning', reasoning: '' }
  return chunkOf(block)
}

function wholeOf({ type, text, id, name }: Block): Record<string, unknown> {
  if (type === 'text') return { type, text }
  if (type === 'reasoning') return { type, reasoning: text }
  try {
    return { type: 'tool_call', id, name, args: valueIn(text || '{}') }
  } catch {
    return { type: 'invalid_tool_call', id, name, args: text, error: 'Malformed args.' }
  }
}

/** Numbers are added, also in objects: models report what a chunk adds. */
function summed(a: Readonly<Record<string, unknown>>,
  b: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const sum: Record<string, unknown> = { ...a }
  for (const [key, value] of Object.entries(b)) {
    const before = sum[key]
    if (typeof before === 'number' && typeof value === 'number') sum[key] = before + value
    else if (isObject(before) && isObject(value)) sum[key] = summed(before, value)
    else sum[key] = value ?? before
  }
  return sum
}

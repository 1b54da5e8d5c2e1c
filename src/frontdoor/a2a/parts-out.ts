/** Makes parts of A2A of the content of a graph's messages. Pure. */

import { isList, isObject, textAt } from '../../json/index.ts'
import { dataPlaces } from './message-in.ts'
import type { Part } from './task.ts'

/** Blocks that are no result: calls of tools, and what a model thought. */
const inner: ReadonlySet<string> = new Set(['tool_use', 'tool_call', 'tool_call_chunk',
  'invalid_tool_call', 'input_json_delta', 'thinking', 'redacted_thinking', 'reasoning',
  'reasoning_content', 'server_tool_use', 'server_tool_call', 'server_tool_call_chunk',
  'server_tool_call_result', 'function_call', 'tool_result'])
const files: ReadonlySet<string> = new Set(['image', 'audio', 'video', 'file', 'text-plain',
  'media'])

/** The parts of a message of a graph; none for one without content of its own. */
export function partsOf(message: unknown): readonly Part[] {
  const content = isObject(message) ? message['content'] : undefined
  if (typeof content === 'string') return content === '' ? [] : [{ text: content }]
  const data = dataPlaces(message)
  return isList(content)
    ? content.flatMap((block, index) => partOf(block, data.has(index)) ?? [])
    : []
}

function partOf(block: unknown, isData: boolean): Part | undefined {
  if (typeof block === 'string') return block === '' ? undefined : { text: block }
  if (!isObject(block)) return undefined
  const type = textAt(block, 'type') ?? ''
  const text = textAt(block, 'text')
  if (isData && text !== undefined) return dataIn(text)
  if (inner.has(type)) return undefined
  if (files.has(type)) return fileIn(block)
  if (type === 'image_url') return imageIn(block['image_url'])
  if (text !== undefined) return text === '' ? undefined : { text }
  if (type === 'non_standard') return { data: block['value'] ?? null }
  if (type === 'data' || type === 'json') return { data: block['data'] ?? block['json'] ?? null }
  return { data: block }
}

function dataIn(text: string): Part {
  try {
    return { data: JSON.parse(text) as unknown }
  } catch {
    return { text }
  }
}

/** Blocks of both forms of LangChain, and those that name their source as some models do. */
function fileIn(block: Readonly<Record<string, unknown>>): Part | undefined {
  const source = isObject(block['source']) ? block['source'] : block
  const mediaType = textAt(block, 'mimeType') ?? textAt(block, 'mime_type') ??
    textAt(source, 'media_type')
  const filename = textAt(block, 'filename') ??
    textAt(block['metadata'], 'filename') ?? textAt(block['metadata'], 'name')
  const about = { ...filename !== undefined && { filename },
    ...mediaType !== undefined && { mediaType } }
  const raw = textAt(source, 'data')
  if (raw !== undefined) return { raw, ...about }
  const url = textAt(source, 'url')
  if (url !== undefined) return { ...addressed(url), ...about }
  const text = textAt(source, 'text')
  return text === undefined ? undefined : { text, ...about }
}

function imageIn(image: unknown): Part | undefined {
  const url = typeof image === 'string' ? image : textAt(image, 'url')
  return url === undefined ? undefined : addressed(url)
}

/** A URL that has the bytes in it becomes those bytes. */
function addressed(url: string): Part {
  const comma = url.indexOf(';base64,')
  if (!url.startsWith('data:') || comma < 0) return { url }
  return { raw: url.slice(comma + ';base64,'.length), mediaType: url.slice('data:'.length, comma) }
}

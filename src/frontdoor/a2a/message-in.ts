/** Makes messages and answers for a graph of the messages that agents send. Pure. */

import { isObject, memberOf, objectOf, textAt } from '../../json/index.ts'
import { A2aError } from './a2a-error.ts'
import type { Part } from './task.ts'

type Json = Readonly<Record<string, unknown>>

/** The parts of a message in the form of either version. Throws A2aError for one that is none. */
export function partsIn(parts: readonly unknown[]): readonly Part[] {
  return parts.map((part, index) => partIn(part) ?? badPart(index))
}

function partIn(part: unknown): Part | undefined {
  if (!isObject(part)) return undefined
  const file = objectOf(part['file'])
  const raw = textAt(part, 'raw') ?? textAt(file, 'bytes') ?? textAt(file, 'fileWithBytes')
  const url = textAt(part, 'url') ?? textAt(file, 'uri') ?? textAt(file, 'fileWithUri')
  const text = textAt(part, 'text')
  const hasData = Object.hasOwn(part, 'data')
  const given = [text !== undefined, raw !== undefined, url !== undefined, hasData]
  if (given.filter(Boolean).length !== 1) return undefined
  const filename = textAt(part, 'filename') ?? textAt(file, 'name')
  const mediaType = textAt(part, 'mediaType') ?? textAt(file, 'mediaType') ??
    textAt(file, 'mimeType')
  const about = { ...filename !== undefined && { filename },
    ...mediaType !== undefined && { mediaType } }
  if (text !== undefined) return { text, ...about }
  if (raw !== undefined) return { raw, ...about }
  if (url !== undefined) return { url, ...about }
  return { data: part['data'], ...about }
}

function badPart(index: number): never {
  const field = `message.parts.${index}`
  const message = 'must have one of text, raw, url and data (in 0.3: a text, a file or data)'
  throw new A2aError('invalid_params', `${field}: ${message}.`, { faults: [{ field, message }] })
}

/** The media type of a part. */
export function mediaTypeOf({ text, data, mediaType }: Part): string {
  if (mediaType !== undefined) return mediaType
  if (text !== undefined) return 'text/plain'
  return data === undefined ? 'application/octet-stream' : 'application/json'
}

/** The key of a message's `additional_kwargs` that says which of its texts were data. */
const dataKey = 'a2a_data'

/** The message of a graph. Data is written as text, as models read it, and is known again. */
export function humanMessage(messageId: string, parts: readonly Part[]): Json {
  const [first] = parts
  const isText = parts.length === 1 && first?.text !== undefined
  const data = parts.flatMap((part, index) => isData(part) ? [index] : [])
  return {
    type: 'human',
    id: messageId,
    content: isText ? first.text : parts.map(blockOf),
    ...data.length > 0 && { additional_kwargs: { [dataKey]: data } },
  }
}

/** The answer to a question of the graph: a text, the data itself, or content of a message. */
export function answerIn(parts: readonly Part[]): unknown {
  const [first] = parts
  if (parts.length === 1 && first !== undefined && isData(first)) return first.data
  const texts = parts.map(({ text }) => text)
  return texts.every((text) => text !== undefined) ? texts.join('\n') : parts.map(blockOf)
}

function isData(part: Part): boolean {
  return Object.hasOwn(part, 'data')
}

/** A block of content as LangChain has it. */
function blockOf(part: Part): Json {
  const { text, raw, url, data, filename } = part
  if (text !== undefined) return { type: 'text', text }
  if (isData(part)) return { type: 'text', text: JSON.stringify(data) }
  const mimeType = mediaTypeOf(part)
  const [family = ''] = mimeType.split('/', 1)
  const type = ['image', 'audio', 'video'].includes(family) ? family : 'file'
  return { type, mimeType, ...raw === undefined ? { url } : { data: raw },
    ...filename !== undefined && { metadata: { filename } } }
}

/** The places of data among the blocks of a message that a graph keeps. */
export function dataPlaces(message: unknown): ReadonlySet<unknown> {
  const places = memberOf(memberOf(message, 'additional_kwargs'), dataKey)
  return new Set(Array.isArray(places) ? places : [])
}

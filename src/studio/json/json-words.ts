/** Short words for values of JSON: what a closed branch holds, where a value is, what it is. */

import { textOf } from '../api/content.ts'
import { count, size } from '../parts/amounts.ts'
import { isObject } from './is-object.ts'

/** Names from the root to a value. */
export type JsonPath = readonly (string | number)[]

const speakers = new Set(['human', 'ai', 'system', 'tool', 'function', 'user', 'assistant',
  'developer', 'remove', 'generic'])

/** "human: What is the weather?" for a message; null for anything else. */
export function messageWords(value: unknown): string | null {
  if (!isObject(value)) return null
  const speaker = typeof value['type'] === 'string' ? value['type'] : value['role']
  if (typeof speaker !== 'string' || !speakers.has(speaker)) return null
  if (!('content' in value) && speaker !== 'remove') return null
  const words = textOf(value['content']).slice(0, 400).replaceAll(/\s+/g, ' ').trim()
  const calls = Array.isArray(value['tool_calls']) ? value['tool_calls'] : []
  const names = calls.map((call: unknown) => isObject(call) ? `→ ${String(call['name'])}` : '')
  return `${speaker}: ${[words, ...names].filter((word) => word !== '').join(' ')}`
}

/** Words beside the name of a branch: `[9]`, `{ name, city }`, or the words of a message. */
export function branchWords(value: object): string {
  if (Array.isArray(value)) return `[${count(value.length)}]`
  const message = messageWords(value)
  if (message !== null) return message
  const keys = Object.keys(value)
  if (keys.length === 0) return '{ }'
  const shown = keys.slice(0, 6).map((key) => key.slice(0, 40)).join(', ')
  return `{ ${shown}${keys.length > 6 ? `, … ${count(keys.length)}` : ''} }`
}

/** `values.messages[3]["two words"]`: as it is written in JavaScript. */
export function pathWords(path: JsonPath): string {
  return path.map((name, at) => {
    if (typeof name === 'number') return `[${name}]`
    if (!/^[A-Za-z_$][\w$]*$/.test(name)) return `[${JSON.stringify(name)}]`
    return at === 0 ? name : `.${name}`
  }).join('')
}

/** The id of a value among all rows of its tree. */
export const pathId = (path: JsonPath): string => path.map((name) => `/${partOf(name)}`).join('')

/** The part of such an id for one name; no part begins with a minus. */
export const partOf = (name: string | number): string =>
  String(name).replaceAll('~', '~0').replaceAll('/', '~1').replace(/^-/, '~2')

/** Text of a value for the clipboard: texts as they are, the rest as JSON. */
export const textOfValue = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value, null, 2) ?? String(value)

/** Kinds of images that browsers draw. */
const imageKind = /^image\/(png|jpeg|jpg|gif|webp|avif|bmp|svg\+xml)$/

/** The address of an image that a text holds, by itself or with the kind beside it. */
export function imageAddress(text: string, name: string | number | null, holder: unknown):
  | string
  | null {
  const kind = /^data:([^;,]{1,40})[;,]/.exec(text.slice(0, 60))?.[1]
  if (kind !== undefined) return imageKind.test(kind) ? text : null
  if (name !== 'data' && name !== 'base64' || !isObject(holder)) return null
  const named = holder['mime_type'] ?? holder['mimeType'] ?? holder['media_type']
  return typeof named === 'string' && imageKind.test(named) ? `data:${named};base64,${text}` : null
}

/** "image/png, 1.2 MB" for the address of an image. */
export function imageWords(address: string): string {
  const comma = address.indexOf(',')
  const kind = address.slice('data:'.length, comma).replace(/;.*/, '')
  const isBase64 = address.slice(0, comma).endsWith(';base64')
  const length = address.length - comma - 1
  return `${kind}, ${size(isBase64 ? Math.floor(length * 3 / 4) : length)}`
}

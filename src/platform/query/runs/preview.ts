/** Short texts that stand for inputs and outputs in lists. */

import { isObject } from '../../../json/index.ts'
import type { PayloadField } from '../../spans/payload.ts'
import type { Content } from '../payload/content.ts'
import { errorText } from '../filter/test-span.ts'

/** Characters of a preview. */
const previewMax = 250

/** A preview of inputs or outputs; null if there is nothing. */
export function previewOf(content: Content, field: PayloadField): string | null {
  const value = content.value(field)
  if (value === undefined || value === null) return null
  return cut(textIn(value) ?? JSON.stringify(value))
}

/** A preview of the error. */
export function errorPreview(content: Content): string | null {
  const text = errorText(content)
  return text === undefined ? null : cut(text)
}

/** Cut, but not inside a character of two units. */
function cut(text: string): string {
  if (text.length <= previewMax) return text
  const end = text.charCodeAt(previewMax - 1) >= 0xd800 && text.charCodeAt(previewMax - 1) < 0xdc00
    ? previewMax - 1
    : previewMax
  return `${text.slice(0, end)}…`
}

/** Names of members whose text is shown first, as it tells people most. */
const telling = ['messages', 'message', 'content', 'kwargs', 'input', 'question', 'output',
  'answer', 'text', 'generations']

/**
 * The most telling text in a value: for a list that of its last element, for messages their
 * content.
 */
function textIn(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null || depth === 8) return undefined
  if (Array.isArray(value)) {
    const last = value.findLast((each) => textIn(each, depth + 1) !== undefined)
    return textIn(last, depth + 1)
  }
  const members = isObject(value) ? value : {}
  for (const name of telling) {
    const text = Object.hasOwn(members, name) ? textIn(members[name], depth + 1) : undefined
    if (text !== undefined) return text
  }
  const own = Object.values(members)
  return own.length === 1 ? textIn(own[0], depth + 1) : undefined
}

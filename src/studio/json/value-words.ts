/** A value of JSON as the few words that a row has room for. Pure. */

import { textOf } from '../api/content.ts'
import { isObject } from './is-object.ts'
import { messageWords } from './json-words.ts'

/** More than a row shows. */
const wordsMax = 300

/** The words: of the last message, of the only member, or the JSON. */
export function wordsOf(value: unknown): string {
  if (typeof value === 'string') return value.slice(0, wordsMax)
  if (isObject(value)) {
    const members = Object.values(value)
    if (members.length === 1) return wordsOf(members[0])
  }
  const last = Array.isArray(value) ? value.at(-1) : value
  const message = messageWords(last)
  if (message !== null) return message
  if (isObject(last) && 'content' in last) return textOf(last['content']).slice(0, wordsMax)
  return (JSON.stringify(value) ?? '').slice(0, wordsMax)
}

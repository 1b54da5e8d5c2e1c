/** Ids of contexts and tasks: those that clients name, and those that follow from a message. */

import { createHash } from 'node:crypto'

import { IsUuid } from 'typebox/format'

/** True for the form of every id of a context or a task. */
export function isListedUuid(text: string): boolean {
  return IsUuid(text)
}

/** The same UUID for the same text, and another one for any other. */
export function idOfText(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  // Version 8: the maker of the id says how it is made.
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${
    hex.slice(20, 32)
  }`
}

/** A short text that stands for a long one. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

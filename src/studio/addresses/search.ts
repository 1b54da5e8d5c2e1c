/** Reads search parameters of addresses: a link in a ticket may hold anything. */

/** What the address bar has behind its question mark. */
export type RawSearch = Readonly<Record<string, unknown>>

/** A text, or undefined for anything else and for an empty one. */
export function textIn(search: RawSearch, key: string): string | undefined {
  const value = search[key]
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** One of the given words, or undefined. */
export function oneOf<Word extends string>(search: RawSearch, key: string, words: readonly Word[]):
  | Word
  | undefined {
  const value = search[key]
  return words.find((word) => word === value)
}

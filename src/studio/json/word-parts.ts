/** Differences between two texts, word by word. Pure. */

import { diffWordsWithSpace } from 'diff'

import { branchWords } from './json-words.ts'

/** Words that stayed, came or went. */
export interface WordPart {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
}

/** Longer texts, and those with hardly a word in common, are shown whole. */
const limits = { maxEditLength: 1_500, timeout: 150 }
const longest = 200_000

/** The words of both texts. */
export function wordParts(before: string, after: string): readonly WordPart[] {
  const parts = before.length + after.length > longest
    ? undefined
    : diffWordsWithSpace(before, after, limits)
  return parts?.map(({ value, added, removed }): WordPart => ({ text: value,
    kind: added ? 'added' : removed ? 'removed' : 'same' })
  ) ?? wholeParts(before, after)
}

/** One value after the other. */
export const wholeParts = (before: unknown, after: unknown): readonly WordPart[] => [
  { kind: 'removed', text: shortOf(before) },
  { kind: 'added', text: shortOf(after) },
]

const shortOf = (value: unknown): string =>
  typeof value === 'object' && value !== null ? branchWords(value) : String(value).slice(0, 2_000)

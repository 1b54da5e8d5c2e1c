/** Search for words in the texts of a span. A word is found where a word of a text begins. */

import { searchedMax, searchedTexts } from '../../spans/searched-text.ts'
import type { SpanHead } from '../../spans/span.ts'
import { hasWord } from '../../spans/words.ts'
import type { Content } from '../payload/content.ts'
import type { Filter } from './filter.ts'

/** Test for words: each must be in one of the texts. Undefined if the head does not decide it. */
export function searchTest({ places, words }: Extract<Filter, { kind: 'search' }>) {
  const inHead = places.includes('name')
  const inContent = places.filter((place) => place !== 'name')
  // The time is bounded by the words times the characters.
  const charactersMax = Math.ceil(searchedMax / Math.max(1, words.length))
  return ({ name }: SpanHead, content?: Content): boolean | undefined => {
    let missing = inHead ? without(words, (name ?? '').toLowerCase()) : words
    if (missing.length === 0) return true
    if (inContent.length === 0) return false
    if (content === undefined) return undefined
    for (const place of inContent) {
      for (const text of searchedTexts(content.payload, place, charactersMax)) {
        missing = without(missing, text)
        if (missing.length === 0) return true
      }
    }
    return false
  }
}

function without(words: readonly string[], text: string): readonly string[] {
  return words.filter((word) => !hasWord(text, word))
}

/** Search for words in the texts of a span. */

import type { PayloadField } from '../spans/payload.ts'
import type { SpanHead } from '../spans/span.ts'
import { entriesIn, metadataOf } from './content.ts'
import type { Content } from './content.ts'
import type { Filter, SearchPlace } from './filter.ts'

/** The member of the payload that each place is in. */
const members: Readonly<Record<Exclude<SearchPlace, 'name'>, PayloadField>> = { error: 'error',
  inputs: 'inputs', outputs: 'outputs', tags: 'tags', metadata: 'extra' }

/** True if each word is in one of the texts. Undefined if that needs the content. */
export function searchTest({ places, words }: Extract<Filter, { kind: 'search' }>) {
  const inHead = places.includes('name')
  const inContent = places.filter((place) => place !== 'name')
  return ({ name }: SpanHead, content?: Content): boolean | undefined => {
    let missing = inHead ? without(words, [name ?? '']) : words
    if (missing.length === 0) return true
    if (inContent.length === 0) return false
    if (content === undefined) return undefined
    for (const place of inContent) {
      if (!mayHave(content, members[place], missing)) continue
      missing = without(missing, textsIn(place, content))
      if (missing.length === 0) return true
    }
    return false
  }
}

/** Characters that JSON may write in another way. */
const escaped = /["\\/]|[^\x20-\x7e]/

/** False if the JSON as it is has none of the words, which is known without parsing it. */
function mayHave({ payload }: Content, member: PayloadField, words: readonly string[]): boolean {
  const json = payload[member]
  if (json === undefined) return false
  if (json.includes('\\u')) return true
  const text = json.toString().toLowerCase()
  return words.some((word) => escaped.test(word) || text.includes(word))
}

function* textsIn(place: Exclude<SearchPlace, 'name'>, content: Content): Iterable<string> {
  const value = place === 'metadata' ? metadataOf(content) : content.value(members[place])
  for (const [, each] of entriesIn(value)) if (typeof each === 'string') yield each
}

function without(words: readonly string[], texts: Iterable<string>): readonly string[] {
  let missing = words
  for (const text of texts) {
    const folded = text.toLowerCase()
    missing = missing.filter((word) => !folded.includes(word))
    if (missing.length === 0) break
  }
  return missing
}

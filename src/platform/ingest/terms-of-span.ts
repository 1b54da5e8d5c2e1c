/** The terms of a span: which there are, and which of them are worth an index. */

import { LRUCache } from '../../../cluster/index.ts'
import { isIndexedMetadata, isIndexedTag } from '../spans/indexed-term.ts'
import type { Term, Uuid } from '../spans/span.ts'
import { termOf } from '../spans/term.ts'

/** Fields of a span that terms are made of. */
export interface TermSource {
  readonly name: string | null
  readonly failed: boolean | null
  readonly thread: string | null
  readonly example: Uuid | null
  readonly tags: readonly string[]
  /** Null for a value that is no scalar. */
  readonly metadata: ReadonlyMap<string, string | null>
}

/** The terms of a span, those first that are worth an index, and how many these are. */
export function termsOfSpan({ name, failed, thread, example, tags, metadata }: TermSource): {
  readonly terms: readonly Term[]
  readonly indexed: number
} {
  const first = new Set<Term>()
  const rest = new Set<Term>()
  if (thread !== null) first.add(known('thread', thread))
  if (failed === true) first.add(termOf.error)
  if (example !== null) first.add(known('example', example))
  if (name !== null) first.add(known('name', name))
  for (const tag of tags) (isIndexedTag(tag) ? first : rest).add(known('tag', tag))
  for (const [key, value] of metadata) {
    const terms = isIndexedMetadata(key) ? first : rest
    if (value !== null) terms.add(knownPair(key, value))
    terms.add(known('metadataKey', key))
  }
  return { terms: [...first, ...rest], indexed: first.size }
}

/** Terms that were asked for before: spans of one program have most of theirs in common. */
const cache = new LRUCache<string, Term>({ max: 20_000 })
/** Characters beyond which a text is not kept. */
const cachedMax = 200

function known(kind: 'name' | 'thread' | 'tag' | 'metadataKey' | 'example', text: string): Term {
  return cached(`${kind}:${text}`, () => termOf[kind](text))
}

function knownPair(key: string, value: string): Term {
  return cached(`pair:${key.length}:${key}=${value}`, () => termOf.metadata(key, value))
}

function cached(text: string, make: () => Term): Term {
  if (text.length > cachedMax) return make()
  const found = cache.get(text)
  if (found !== undefined) return found
  const term = make()
  cache.set(text, term)
  return term
}

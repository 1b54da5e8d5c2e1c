/** The addresses of prompts: what the list shows, and which versions of one. */

import { oneOf, textIn } from './search.ts'
import type { RawSearch } from './search.ts'

/** What the list shows. */
export interface PromptListSearch {
  readonly q?: string | undefined
  readonly tag?: string | undefined
}

/** What a prompt shows. */
export interface PromptSearch {
  /** The version that is shown; the newest without it. */
  readonly at?: string | undefined
  /** The version that it is compared with. */
  readonly vs?: string | undefined
  readonly view?: 'json' | undefined
}

/** Reads it. */
export const readPromptListSearch = (raw: RawSearch): PromptListSearch => ({
  q: textIn(raw, 'q'),
  tag: textIn(raw, 'tag'),
})

/** Reads it. */
export const readPromptSearch = (raw: RawSearch): PromptSearch => ({
  at: textIn(raw, 'at'),
  vs: textIn(raw, 'vs'),
  view: oneOf(raw, 'view', ['json']),
})

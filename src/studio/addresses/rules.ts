/** The addresses of rules. */

import { oneOf, textIn } from './search.ts'
import type { RawSearch } from './search.ts'

/** What the list shows. */
export interface RuleListSearch {
  /** The rule in the editor: its id, or `new`. */
  readonly edit?: string | undefined
}

/** Outcomes of lines of a log. */
export const outcomes = ['done', 'failed', 'skipped', 'alert'] as const

/** What the page of a rule shows. */
export interface RuleSearch {
  /** Only lines with this outcome. */
  readonly outcome?: typeof outcomes[number] | undefined
  /** The number of the line that is looked at. */
  readonly line?: string | undefined
}

/** Reads it. */
export const readRuleListSearch = (raw: RawSearch): RuleListSearch => ({
  edit: textIn(raw, 'edit'),
})

/** Reads it. */
export const readRuleSearch = (raw: RawSearch): RuleSearch => ({
  outcome: oneOf(raw, 'outcome', outcomes),
  line: textIn(raw, 'line'),
})

/** The addresses of rules. */

import { oneOf, searchOf, text } from './search.ts'

/** Outcomes of lines of a log. */
export const outcomes = ['done', 'failed', 'skipped', 'alert'] as const

/** Reads what the list shows. */
export const readRuleListSearch = searchOf({
  /** The rule in the editor: its id, or `new`. */
  edit: text,
})

/** Reads what the page of a rule shows. */
export const readRuleSearch = searchOf({
  /** Only lines with this outcome. */
  outcome: oneOf(outcomes),
  /** The number of the line that is looked at. */
  line: text,
})

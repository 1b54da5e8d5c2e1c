/** A rule that a history breaks. */

import type { Call } from '../history/history.ts'

export interface Violation {
  readonly rule: string
  /** What happened, with the ids and tokens that are concerned. */
  readonly message: string
  /** Calls that show it. */
  readonly calls: readonly Call[]
}

/** A rule: returns each place where the history breaks it. */
export type Rule<Subject> = (subject: Subject) => readonly Omit<Violation, 'rule'>[]

/** Applies rules, by name. */
export function applyRules<Subject>(rules: Readonly<Record<string, Rule<Subject>>>,
  subject: Subject): readonly Violation[] {
  return Object.entries(rules).flatMap(([rule, find]) =>
    find(subject).map((violation) => ({ rule, ...violation }))
  )
}

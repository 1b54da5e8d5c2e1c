/** Checks a history alone: no server is needed. */

import type { Entry } from '../history/history.ts'
import { indexHistory } from './history-index.ts'
import { historyRules, threadLifeRules } from './response-rules.ts'
import { threadRules } from './state-rules.ts'
import { applyRules } from './violation.ts'
import type { Violation } from './violation.ts'

/** Returns the violations of all rules; none for a correct history. */
export function checkHistory(entries: readonly Entry[]): readonly Violation[] {
  const index = indexHistory(entries)
  const threads = [...index.threads.values()].flatMap((thread) =>
    applyRules({ ...threadRules, ...threadLifeRules }, { index, thread })
  )
  return [...applyRules(historyRules, index), ...threads]
}

/** Names of all rules. */
export const ruleNames: readonly string[] = [historyRules, threadRules, threadLifeRules]
  .flatMap((rules) => Object.keys(rules))

/** Checks a history alone: no server is needed. */

import { taskRules, toolRules } from './agent-rules.ts'
import { assistantRules, versionRules } from './assistant-rules.ts'
import { cronRules } from './cron-rules.ts'
import { deploymentRules, revisionRules } from './deploy-rules.ts'
import { documentRules } from './document-rules.ts'
import type { Entry } from '../history/history.ts'
import { indexHistory } from './history-index.ts'
import { protocolRules } from './protocol-rules.ts'
import { itemRules, metadataRules } from './register-rules.ts'
import { historyRules, threadLifeRules } from './response-rules.ts'
import { recordingRules, replayRules } from './replay-rules.ts'
import { runRules, runsRules } from './run-rules.ts'
import { threadRules } from './state-rules.ts'
import { tenantRules } from './tenant-rules.ts'
import { spanRules, spansOf, traceRules } from './trace-rules.ts'
import { applyRules } from './violation.ts'
import type { Violation } from './violation.ts'

const rulesOfHistories = { ...historyRules, ...itemRules, ...runsRules, ...traceRules,
  ...assistantRules, ...cronRules, ...tenantRules, ...deploymentRules, ...documentRules,
  ...toolRules, ...replayRules }
const rulesOfThreads = { ...threadRules, ...threadLifeRules, ...runRules, ...metadataRules,
  ...versionRules, ...revisionRules, ...protocolRules, ...taskRules, ...recordingRules }

/** Returns the violations of all rules; none for a correct history. */
export function checkHistory(entries: readonly Entry[]): readonly Violation[] {
  const index = indexHistory(entries)
  const threads = [...index.threads.values()].flatMap((thread) =>
    applyRules(rulesOfThreads, { index, thread })
  )
  const spans = spansOf(index).flatMap((span) => applyRules(spanRules, span))
  return [...applyRules(rulesOfHistories, index), ...threads, ...spans]
}

/** Names of all rules. */
export const ruleNames: readonly string[] = [rulesOfHistories, rulesOfThreads, spanRules]
  .flatMap((rules) => Object.keys(rules))

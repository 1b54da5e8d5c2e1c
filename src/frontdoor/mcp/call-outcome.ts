/** Outcome of a call after its first run, and after each run that resumes the graph. */

import type { JsonText } from '../../checkpoint/index.ts'
import { ignoreNotFound } from '../../errors.ts'
import { openInterrupts } from '../../thread/index.ts'
import type { Caller } from '../http/caller.ts'
import type { RunName } from '../operations/index.ts'
import type { McpParts } from './call.ts'
import { questionsOf } from './questions/index.ts'
import type { Question } from './questions/index.ts'
import { outcomeOf } from './tool-result.ts'
import type { Outcome } from './tool-result.ts'

type Parts = Pick<McpParts, 'json' | 'threads'>

/** A run of a call that has ended, and its result. */
export interface EndedRun {
  readonly caller: Caller
  readonly run: RunName
  readonly text: JsonText
}

/**
 * Returns the outcome of a call. A run that resumes the graph and fails or is cancelled leaves the
 * interrupt open: the question is sent again.
 */
export async function callOutcome(parts: Parts, { caller, run, text }: EndedRun): Promise<Outcome> {
  const outcome = await outcomeOf(parts.json, caller.tenant, text)
  if (outcome.kind === 'asks') return outcome
  const questions = await questionsAfter(parts, caller, run)
  return questions.length === 0 ? outcome : { ...outcome, kind: 'asks', questions }
}

/** Only later runs are looked up, because the first run of a call may be stored nowhere. */
async function questionsAfter({ threads }: Parts, caller: Caller,
  { threadId, runId }: RunName): Promise<readonly Question[]> {
  if (threadId === runId) return []
  const view = await threads.get(caller, threadId, ['interrupts']).catch(ignoreNotFound)
  return view?.row.lastRunId === runId ? questionsOf(openInterrupts(view.row)) : []
}

/** The feedback that the verdict of a judge becomes. Pure. */

import type { RuleVerdict } from '../../../api/index.ts'
import { feedbackOf } from '../../records/feedback/feedback-row.ts'
import type { Feedback } from '../../spans/feedback-port.ts'
import type { Uuid } from '../../spans/span.ts'
import type { SpanDetail } from './judge.ts'

/** A verdict on a span. */
export interface GivenVerdict {
  readonly tenant: string
  readonly span: SpanDetail
  readonly verdict: RuleVerdict
  /** The run of the judge. */
  readonly judgeRun: Uuid
  /** The id of its feedback, the same when it is given again. */
  readonly id: string
  /** Says in its source who asked the judge. */
  readonly askedBy: { readonly rule_id: Uuid } | { readonly experiment_id: Uuid }
}

/** The row of it. */
export function verdictFeedback({ tenant, span, verdict, judgeRun, id, askedBy }: GivenVerdict,
  nowMs: number): Feedback {
  const { key, score, value, comment } = verdict
  return feedbackOf(tenant, {
    id,
    key,
    score,
    value,
    comment,
    run_id: span.id,
    trace_id: span.trace_id,
    session_id: span.session_id,
    feedback_source: { type: 'auto_eval', metadata: { __run: { run_id: judgeRun }, ...askedBy } },
  }, nowMs * 1_000)
}

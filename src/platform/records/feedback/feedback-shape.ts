/** Feedback in answers. Pure. */

import type { Feedback } from '../../spans/feedback-port.ts'
import { zonedTextUs } from '../../spans/time.ts'

/** Members that clients expect to be there. */
const absent = { score: null, value: null, comment: null, correction: null, feedback_source: null,
  feedback_group_id: null, comparative_experiment_id: null, start_time: null, extra: null } as const

/** Feedback as clients read it. */
export function feedbackJson(row: Feedback): Record<string, unknown> {
  return {
    ...absent,
    ...JSON.parse(row.bodyJson) as object,
    id: row.id,
    key: row.key,
    run_id: row.span,
    trace_id: row.trace,
    session_id: row.project,
    created_at: zonedTextUs(row.createdUs),
    modified_at: zonedTextUs(row.modifiedUs),
  }
}

/** Where feedback came from: `api`, `model`, `app` and so on; undefined if it did not say. */
export function sourceOf({ bodyJson }: Feedback): string | undefined {
  const { feedback_source: source } = JSON.parse(bodyJson) as {
    readonly feedback_source?: { readonly type?: unknown } | null
  }
  return typeof source?.type === 'string' ? source.type : undefined
}

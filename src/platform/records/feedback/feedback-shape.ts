/** Feedback in answers. Pure. */

import type { Feedback as FeedbackJson } from '../../../api/index.ts'
import type { Feedback } from '../../spans/feedback-port.ts'
import { zonedTextUs } from '../../spans/time.ts'
import { feedbackMembers } from './feedback-members.ts'

/** All members with null, because clients expect each to be there. */
const absent = Object.fromEntries(
  Object.keys(feedbackMembers).map((name) => [name, null]),
) as Record<keyof typeof feedbackMembers, null>

/** Feedback as clients read it. */
export function feedbackJson(row: Feedback): FeedbackJson {
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

/** Source of feedback: `api`, `model`, `app` and so on; undefined if the client named none. */
export function sourceOf({ bodyJson }: Feedback): string | undefined {
  const { feedback_source: source } = JSON.parse(bodyJson) as {
    readonly feedback_source?: { readonly type?: unknown } | null
  }
  return typeof source?.type === 'string' ? source.type : undefined
}

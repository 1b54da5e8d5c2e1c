/**
 * The members of feedback that clients write freely, one line each. All are stored as JSON, and
 * answered as null where a client gave nothing. A member of the contract without a line does not
 * compile.
 */

import type { Feedback } from '../../../api/index.ts'

/** Members that have a field of their own in a row. */
type Kept = 'id' | 'key' | 'run_id' | 'trace_id' | 'session_id' | 'created_at' | 'modified_at'

/** Members by name: `change` for those that a PATCH changes, `keep` for those that it leaves. */
export const feedbackMembers = {
  score: 'change',
  value: 'change',
  comment: 'change',
  correction: 'change',
  feedback_source: 'keep',
  feedback_group_id: 'keep',
  comparative_experiment_id: 'keep',
  start_time: 'keep',
  extra: 'keep',
} as const satisfies Readonly<Record<Exclude<keyof Feedback, Kept>, 'change' | 'keep'>>

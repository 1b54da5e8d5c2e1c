/**
 * The members of feedback that clients write freely, one line each. All are stored as JSON, and
 * answered as null where a client gave nothing. To add a member, add its line here.
 */

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
} as const

/** The way out: calls to endpoints of customers, and nowhere else. */

export { AddressRules } from './address-rules.ts'
export { untilAborted } from './deadline.ts'
export { openEgress } from './egress.ts'
export type { Call, Egress, EgressOptions, CallOutcome, Unanswered } from './egress.ts'
export type { OpenedAnswer } from './opened-answer.ts'
export { isOwnRoute } from './own-route.ts'
export { closedByText, hostOf } from './url-rules.ts'
export { withPolicy } from './webhook-policy.ts'
export type { GuardedEgress, WebhookPolicy } from './webhook-policy.ts'

/** The way out: calls to endpoints of customers, and nowhere else. */

export { AddressRules } from './address-rules.ts'
export { openEgress } from './egress.ts'
export type { Call, Egress, EgressOptions, CallOutcome, Unanswered } from './egress.ts'
export type { OpenedAnswer } from './opened-answer.ts'
export { closedByText, hostOf } from './url-rules.ts'
export { withPolicy } from './webhook-policy.ts'
export type { WebhookPolicy } from './webhook-policy.ts'

/** The way out: calls to endpoints of customers, and nowhere else. */

export { openEgress } from './egress.ts'
export type { Call, Egress, EgressOptions, Outcome } from './egress.ts'
export { narrowed } from './webhook-policy.ts'
export type { Narrowing } from './webhook-policy.ts'

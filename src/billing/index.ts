/** Billing records: one for each finished run. */

export { billingRow, firstPlace, isDay } from './billing.ts'
export type { BillingPlace, BillingQuery, BillingRow, BillingTable } from './billing.ts'

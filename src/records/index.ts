/** The door of the records: rows that are found by what is in them, and the assistants. */

export { assistantClient } from './assistant-client.ts'
export type { AssistantClient } from './assistant-client.ts'
export { assistantKind, assistantWire } from './assistant-actor.ts'
export type { AssistantChange, AssistantContent } from './assistant.ts'
export type {
  AssistantFilter, AssistantIndex, AssistantQuery, AssistantSearch, AssistantSort,
} from './assistant-index.ts'
export { askIndex } from './index-question.ts'
export type { IndexAnswer, IndexQuestion, OwnIndex } from './index-question.ts'
export { indexService, indexWire } from './index-service.ts'
export { billingRow, firstPlace, isDay } from './billing.ts'
export type { BillingPlace, BillingQuery, BillingRow, BillingTable } from './billing.ts'
export { heardAs, unlessGoneByThis, withHeard } from './heard-command.ts'
export { keyDesk } from './key-desk.ts'
export type { KeyDesk, KeyFacts, KeyWish } from './key-desk.ts'
export type { KeyTable } from './key-table.ts'
export {
  callerRoles, hashOf, isHashOf, isTenant, keyFault, keyLookalike, readKey,
} from './key.ts'
export type { CallerRole, KeyRow } from './key.ts'
export { admitPatienceMs, clocksApartMs, limitActorKey, limitKind } from './limit-actor.ts'
export type { AdmitsQuestion, LimitQuestion, LimitRule } from './limit-actor.ts'
export { longestLeaseMs } from './limit-counter.ts'
export type { EndedLease, Grant, RecentAdmits } from './limit-counter.ts'
export { limitService, limitServiceName, limitWires } from './limit-service.ts'
export type { LimitAdmit, LimitKey, LimitTable } from './limit-table.ts'
export { metadataCharactersMax, mustBeShort } from './metadata-limit.ts'
export { pageBytes } from './run-table.ts'
export type { RunQuery, RunStatus, RunTable, RunText } from './run-table.ts'
export { scatteredIndex } from './scattered-index.ts'
export type { ScatteredIndex } from './scattered-index.ts'
export { dueAtMs, noUse, useOfThread } from './tenant-use.ts'
export type { TenantUse } from './tenant-use.ts'
export type {
  DueThread, DueThreads, ThreadFilter, ThreadIndex, ThreadQuery, ThreadSearch, ThreadSort,
  ThreadStatus, UnfinishedThread,
} from './thread-index.ts'

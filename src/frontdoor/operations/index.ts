/** The operations of the API: the one layer that every wire calls. */

export type { FireCron } from './cron-firing.ts'
export { operationsOver } from './operations.ts'
export type { WebhookCheck } from './runs.ts'
export type { OperationParts, Operations } from './operations.ts'
export { createRuns } from './run-batch.ts'
export { revisionHeader } from './run-request.ts'
export type { RunCaller } from './run-request.ts'
export { nameOf } from './runs.ts'
export type { RunName } from './runs.ts'
export type { ThreadStreamWish } from './thread-frames.ts'
export type { FoundThread } from './threads.ts'

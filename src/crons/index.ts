/** Crons: the actor that owns one and fires it, and the client that calls it. */

export { cronKind, cronKindName, cronWire } from './cron-actor.ts'
export type { CronActorParts } from './cron-actor.ts'
export { cronClient } from './cron-client.ts'
export type { CronClient, CronName } from './cron-client.ts'
export { cronUserMember } from './cron.ts'
export type { CronChange, CronContent, OnRunCompleted } from './cron.ts'
export type { FiringOutcome } from './firing.ts'
export { cronIdOf, runIdOf } from './run-id.ts'
export { dueTimesMs, scheduleFault } from './schedule.ts'

/** Threads and their runs: the actor that owns one, and the client that calls it. */

export { ByteBudget } from './byte-budget.ts'
export { InputRoom } from './input-room.ts'
export type { Inputs } from './input-room.ts'
export { metadataKeysMax } from './client.ts'
export type {
  CancelRun, CreateThread, FeedEnd, FeedEvent, FeedListener, FollowRun, HistoryPart, HistoryQuery,
  JoinRun, StartRun, StateQuery, StateUpdate, ThreadClient, ThreadView, ValuesFilter, WatchRun,
} from './client.ts'
export { threadWire } from './feed-wire.ts'
export { Quarantine } from './quarantine.ts'
export type { RunName } from './quarantine.ts'
export { createThreadClient } from './routed-client.ts'
export { threadKind } from './thread-actor.ts'
export { defaultLimits } from './thread-setting.ts'
export type { ThreadLimits, ThreadPorts } from './thread-setting.ts'

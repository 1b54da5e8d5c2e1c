/** Threads and their runs: the actor that owns one, and the client that calls it. */

export { threadKind } from './actor/thread-actor.ts'
export { revisionUse } from './client/revision-use.ts'
export type { RevisionUse, WaitingThreads } from './client/revision-use.ts'
export { createThreadClient } from './client/routed-client.ts'
export { HeldRuns } from './context/held-runs.ts'
export { Recoveries } from './context/recoveries.ts'
export { InputQuota } from './context/input-quota.ts'
export { LateExpiries } from './context/late-expiries.ts'
export type { Inputs } from './context/input-quota.ts'
export { Quarantine } from './context/quarantine.ts'
export type { RunName } from './context/quarantine.ts'
export { defaultLimits } from './context/thread-context.ts'
export type { TaskEnd, ThreadLimits, ThreadPorts } from './context/thread-context.ts'
export { canceledRunKey, configsOf } from './decide/owed.ts'
export { threadWire } from './feed/feed-wire.ts'
export { fromNow } from './model/event-position.ts'
export type { EffectStatus, RunEffects } from './model/effect-fold.ts'
export type { RunGraphs, SubgraphStatus } from './model/graph-fold.ts'
export { tuplesIn } from './model/replay-reading.ts'
export type { ReplayBegin } from './model/replay-reading.ts'
export { userIdOf } from './model/run-request.ts'
export { firstSeqOfRow, seqBefore } from './model/thread-event.ts'
export type { ThreadEvent, ThreadEventListener, ThreadEventMethod, ThreadFollowEnd,
  WatchThread } from './model/thread-event.ts'
export type { AwaitedRun, CancelRun, CopyOptions, CreateThread, FeedEnd, FeedEvent, FeedListener,
  FollowRun, HistoryPart, HistoryQuery, PushChange, StartRun, StateQuery, StateUpdate, ThreadClient,
  ThreadView, ValuesFilter, WatchRun } from './model/thread-client.ts'

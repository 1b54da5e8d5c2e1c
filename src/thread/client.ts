/** Threads and runs as the front door calls them: one typed call a command, wherever it lives. */

import type { RunRow, ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import type { CheckpointSelector, EditUpdate, JsonText } from '../graph/index.ts'
import type { RunQuery, ThreadFilter, ThreadQuery } from '../records/index.ts'

/** Every call throws HeddleError: `not_found` for a thread or run that is not there. */
export interface ThreadClient {
  create(tenant: string, request: CreateThread): Promise<ThreadView>
  get(tenant: string, threadId: string): Promise<ThreadView>
  /** Merges shallowly. */
  patch(tenant: string, threadId: string, metadata: Record<string, unknown>): Promise<ThreadView>
  delete(tenant: string, threadId: string): Promise<void>
  copy(tenant: string, threadId: string): Promise<ThreadView>
  /**
   * `found` is told of each thread of the page, in its order, as it is read: nothing else is kept
   * of it, and what `found` throws ends the search.
   */
  search<Found>(query: ThreadQuery & ValuesFilter, found: (view: ThreadView) => Found):
    Promise<{ threads: Found[]; total: number }>
  count(filter: ThreadFilter & ValuesFilter): Promise<number>

  /** A ThreadState of the API as JSON text. */
  state(tenant: string, threadId: string, query: StateQuery): Promise<JsonText>
  /** ThreadStates, newest first, as the JSON text of an array. */
  history(tenant: string, threadId: string, query: HistoryQuery): Promise<JsonText>
  /** `{checkpoint: {thread_id, checkpoint_ns, checkpoint_id}, checkpoint_id, …}` as JSON text. */
  updateState(tenant: string, threadId: string, update: StateUpdate): Promise<JsonText>

  /** The run when it is on disk; at once where the caller said that it tells nobody yet. */
  startRun(tenant: string, threadId: string, run: StartRun): Promise<RunRow>
  getRun(tenant: string, threadId: string, runId: string): Promise<RunRow>
  listRuns(query: RunQuery): Promise<RunRow[]>
  /** Resolves when the cancel is in the log: the run is over then. */
  cancelRun(tenant: string, threadId: string, runId: string, cancel: CancelRun): Promise<void>
  deleteRun(tenant: string, threadId: string, runId: string): Promise<void>
  /**
   * The run's result when it is over: the state values as JSON text with `__interrupt__` where it
   * waits, `{"__error__": {error, message}}` where it failed. Never `null`.
   */
  joinRun(tenant: string, threadId: string, runId: string, join?: JoinRun): Promise<JsonText>
  /** Tells the events after `after` and all that come. The result stops the telling. */
  followRun(tenant: string, threadId: string, runId: string, watch: WatchRun,
    listener: FeedListener): Promise<() => void>
}

export interface ThreadView {
  readonly row: ThreadRow
  /** The state values, `{}` for an empty thread. */
  readonly values: JsonText
}

export interface ValuesFilter {
  /** Containment on state values. */
  readonly values?: Readonly<Record<string, unknown>>
  /** Leave the values of the answer out: search is much cheaper then. */
  readonly withoutValues?: boolean
}

/** Top-level keys that a thread's metadata may have: search keeps an entry for each. */
export const metadataKeysMax = 256

export interface CreateThread {
  /** A new id where the client named none. */
  readonly threadId: string
  readonly metadata: Record<string, unknown>
  readonly ifExists: 'raise' | 'do_nothing'
  readonly supersteps: readonly (readonly EditUpdate[])[]
}

export interface StateQuery {
  readonly checkpointId: string | null
  readonly checkpointNs: string
  readonly subgraphs: boolean
}

export interface HistoryQuery {
  readonly checkpointId: string | null
  readonly checkpointNs: string
  readonly before: string | null
  readonly limit: number
  readonly metadata: Readonly<Record<string, unknown>> | null
}

export interface StateUpdate {
  readonly update: EditUpdate
  readonly checkpoint: CheckpointSelector | null
}

export type MultitaskStrategy = 'reject' | 'enqueue' | 'interrupt' | 'rollback'

/** A run as the front door resolved it: the assistant is looked up, the ids are made. */
export interface StartRun {
  readonly runId: string
  readonly assistantId: string
  readonly graphId: string
  readonly strategy: MultitaskStrategy
  /** The caller's Idempotency-Key, empty without one: the same key answers the same run. */
  readonly commandId: string
  /** Thread metadata and assistant metadata are merged under it by the thread. */
  readonly metadata: Record<string, unknown>
  /** As the run record shows it: input, command, config, context, stream_mode, … */
  readonly kwargs: Record<string, unknown>
  readonly plan: RunPlan
  readonly afterMs: number
  /**
   * The caller tells nobody of the run before its result. The start may then reach the disk
   * together with the end, which is half the work where a run is quick.
   */
  readonly awaited: boolean
  /**
   * Make the thread where it is missing, with the run's metadata; `hidden`: not listed while the
   * run is temporary.
   */
  readonly ifMissing: 'reject' | 'create' | 'hidden'
}

/** What executing the run takes beside `kwargs`; never shown to clients. */
export interface RunPlan {
  readonly graphId: string
  /** The assistant's metadata, merged under the thread's and the run's. */
  readonly assistantMetadata: Record<string, unknown>
  /** `x-…` request headers for `configurable`. */
  readonly headers: Record<string, string>
  readonly userId: string
  readonly resumable: boolean
  /** Stateless: remove the thread when the run is done. */
  readonly temporary: boolean
  /** How long it may take from when a worker gets it; from there again where it is resumed. */
  readonly timeoutMs: number
  /** Told of the end by POST. */
  readonly webhook?: string
  /** What the run is part of, for those who watch; missing where nobody does. */
  readonly trace?: string
}

export interface CancelRun {
  readonly action: 'interrupt' | 'rollback'
}

/** Who waits for a run, and for how long. */
export interface JoinRun {
  /**
   * Of whoever made the run, who waits for it however long an owner is looked for: begins it once
   * more where it turns out that it was lost before it was written down.
   */
  readonly startAgain?: () => Promise<void>
  /** Aborts, with a HeddleError, when nobody waits any more: nothing is left of the waiting. */
  readonly gone?: AbortSignal | undefined
}

export interface FollowRun {
  /** An event id; `-1`, `-` or null: from the start. */
  readonly after: string | null
  /** Only these API stream modes; null for all that the run has. */
  readonly modes: readonly string[] | null
}

export interface WatchRun extends FollowRun {
  /**
   * By whoever made the run, and so knows that it is there: where its thread cannot be asked at
   * the start, it is asked again, as it is later on.
   */
  readonly made?: boolean
}

export interface FeedEvent {
  /** Opaque to clients; grows along the run. */
  readonly id: string
  readonly name: string
  readonly json: JsonText
}

export type FeedEnd = 'over' | 'lagged' | 'lost' | 'unread'

/** Called in order, on the main loop, with as many events at once as are there. */
export interface FeedListener {
  events(batch: readonly FeedEvent[]): void
  /**
   * Waited for between pieces of what must be read first, and for a moment between those of what a
   * graph tells in bulk; all else is told at once.
   */
  ready?(): Promise<void> | undefined
  /**
   * `over`: the run is over. `lagged`: too slow, come back with the last id. `lost`: so too.
   * `unread`: what is to be told cannot be read just now.
   */
  ended(how: FeedEnd): void
}

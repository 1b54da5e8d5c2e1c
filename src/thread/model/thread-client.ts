/** Threads and runs as the front door calls them: a typed call for each command. */

import type { PushConfig } from '../../../proto/gen/storage/v1/push.ts'
import type { RunRow, ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import type { AppUser, CheckpointSelector, EditUpdate, JsonText, LinePage, LoggedLines,
  StateSelection } from '../../graph/index.ts'
import type { RawPlace } from '../../raw-json.ts'
import type { ExpiryStrategy, MetadataFilter, RunQuery, ThreadFilter, ThreadPlace, ThreadQuery,
  TimeToLiveRequest } from '../../search/index.ts'
import type { CancelCause } from './cancel-reason.ts'
import type { RunEffects } from './effect-fold.ts'
import type { RunGraphs } from './graph-fold.ts'
import type { ReplayAnswer, ReplayReading } from './replay-reading.ts'
import type { ThreadEventListener, WatchThread } from './thread-event.ts'

/**
 * Every call throws HeddleError: `not_found` for a thread or run that is not there. Calls that
 * change or copy a thread take `allowed`: in their turn, a thread that does not match this filter
 * is `not_found`.
 */
export interface ThreadClient {
  create(tenant: string, request: CreateThread): Promise<ThreadView>
  /** Without values, if `brief`: they are not read then. */
  get(tenant: string, threadId: string, brief?: boolean): Promise<ThreadView>
  /** Merges metadata shallowly. A time to live begins now. */
  patch(tenant: string, threadId: string, metadata: Record<string, unknown>,
    timeToLive?: TimeToLiveRequest, allowed?: MetadataFilter): Promise<ThreadView>
  delete(tenant: string, threadId: string, allowed?: MetadataFilter): Promise<void>
  /**
   * Deletes a thread that was kept for a run, if it is there. Nothing is written of one that was
   * never written. Only for ids that are never used again.
   */
  discard(tenant: string, threadId: string): Promise<void>
  /**
   * Deletes the thread, or drops its history but for the newest state. Throws `busy` for one with
   * unfinished runs.
   */
  prune(tenant: string, threadId: string, strategy: ExpiryStrategy,
    allowed?: MetadataFilter): Promise<void>
  copy(tenant: string, threadId: string, options?: CopyOptions): Promise<ThreadView>
  /**
   * Calls `found` for each thread of the page, in order, as it is read, and keeps only what that
   * returns; what it throws ends the search. `next` is the place behind the page, if there are more
   * threads; a filter on values has none.
   */
  search<Found>(query: ThreadQuery & ValuesFilter,
    found: (view: ThreadView) => Found | Promise<Found>,
    cancelled?: AbortSignal
  ): Promise<{ threads: Found[]; total: number; next?: ThreadPlace | undefined }>
  count(filter: ThreadFilter & ValuesFilter, cancelled?: AbortSignal): Promise<number>

  /**
   * A ThreadState of the API as JSON text. `cancelled` aborts when the caller has gone.
   */
  state(tenant: string, threadId: string, query: StateQuery,
    cancelled?: AbortSignal): Promise<JsonText>
  /**
   * ThreadStates, newest first, a part at a time: the next one is read when it is asked for. One
   * that is small is a single part.
   */
  history(tenant: string, threadId: string, query: HistoryQuery,
    cancelled?: AbortSignal): AsyncGenerator<HistoryPart, void, void>
  /** Bytes that the thread takes, as JSON text of the API. */
  storage(tenant: string, threadId: string, cancelled?: AbortSignal): Promise<JsonText>
  /** Merges metadata into that of the newest checkpoint. */
  patchState(tenant: string, threadId: string, metadata: Record<string, unknown>,
    allowed?: MetadataFilter): Promise<void>
  /** `{checkpoint: {thread_id, checkpoint_ns, checkpoint_id}, checkpoint_id, …}` as JSON text. */
  updateState(tenant: string, threadId: string, update: StateUpdate,
    allowed?: MetadataFilter): Promise<JsonText>

  /** Resolves when the run is on disk; at once if it is `awaited`. */
  startRun(tenant: string, threadId: string, run: StartRun): Promise<RunRow>
  /**
   * Starts a run whose caller waits for the result. The wait has no limit: it outlasts changes of
   * the thread's owner. An `awaited` run is started again if it was lost before it was on disk.
   */
  startAndWait(tenant: string, threadId: string, run: StartRun): Promise<AwaitedRun>
  getRun(tenant: string, threadId: string, runId: string): Promise<RunRow>
  /**
   * Lines that its code wrote to the console, as far as the owner executed it and still has them in
   * memory.
   */
  runLogs(tenant: string, threadId: string, runId: string, page: LinePage): Promise<LoggedLines>
  /** Subgraphs of a run, as far as they write checkpoints. */
  runGraphs(tenant: string, threadId: string, runId: string,
    cancelled?: AbortSignal): Promise<RunGraphs>
  /** Effects of a run that its log notes. */
  runEffects(tenant: string, threadId: string, runId: string,
    cancelled?: AbortSignal): Promise<RunEffects>
  /** A part of the thread as it was when an ended run began. */
  replayBase(tenant: string, threadId: string, runId: string,
    reading: ReplayReading): Promise<ReplayAnswer>
  listRuns(query: RunQuery, cancelled?: AbortSignal): Promise<RunRow[]>
  /** Resolves when the cancel is in the log: the run has ended then. */
  cancelRun(tenant: string, threadId: string, runId: string, cancel: CancelRun,
    allowed?: MetadataFilter): Promise<void>
  deleteRun(tenant: string, threadId: string, runId: string,
    allowed?: MetadataFilter): Promise<void>
  /**
   * Says whom to notify of a task from now on. Throws `rejected` if the task is over, and `invalid`
   * if too many are notified.
   */
  changePush(tenant: string, threadId: string, change: PushChange,
    allowed?: MetadataFilter): Promise<void>
  /**
   * The run's result when it has ended: the state values as JSON text with `__interrupt__` if it
   * waits, `{"__error__": {error, message}}` if it failed. Never `null`. `cancelled` aborts, with a
   * HeddleError, when the caller has gone.
   */
  joinRun(tenant: string, threadId: string, runId: string,
    cancelled?: AbortSignal): Promise<JsonText>
  /** Sends the listener the events after `after` and all that come. The result stops that. */
  followRun(tenant: string, threadId: string, runId: string, watch: WatchRun,
    listener: FeedListener): Promise<() => void>
  /**
   * Sends every retained event after a number, then all that come, for ever, in order, without gap
   * or double. Retained are those of the run under way, of those that wait, and of the last
   * finished one. The result stops it.
   */
  followThread(tenant: string, threadId: string, watch: WatchThread,
    listener: ThreadEventListener): Promise<() => void>
}

/** A thread as the API shows it. */
export interface ThreadView {
  readonly row: ThreadRow
  /** The state values, `{}` for an empty thread. */
  readonly values: JsonText
}

/** The part of a search that concerns state values. */
export interface ValuesFilter {
  /** Containment on state values. */
  readonly values?: Readonly<Record<string, unknown>>
  /** Leave the values of the answer out: search is much cheaper then. */
  readonly withoutValues?: boolean
}

/** A thread to create, and the state to begin with. */
export interface CreateThread {
  /** A new id if the client named none. */
  readonly threadId: string
  /** True if the id was made for this command, so that nothing was ever stored under it. */
  readonly isNewId?: boolean
  readonly metadata: Record<string, unknown>
  readonly ifExists: 'raise' | 'do_nothing'
  readonly supersteps: readonly (readonly EditUpdate[])[]
  /** By default as the project says. */
  readonly timeToLive?: TimeToLiveRequest
}

/** Changes to a thread by a client. */
export interface ThreadPatch {
  /** Merged shallowly. */
  readonly metadata: Readonly<Record<string, unknown>>
  /** Begins now. */
  readonly timeToLive?: TimeToLiveRequest
  /** Filter of threads that the caller sees. Members of versions before ignore it. */
  readonly allowed?: MetadataFilter
}

/** The state that is asked for. */
export interface StateQuery {
  readonly checkpointId: string | null
  readonly checkpointNs: string
  readonly subgraphs: boolean
  readonly select?: StateSelection
}

/** The states of a history that are asked for, newest first. */
export interface HistoryQuery {
  readonly checkpointId: string | null
  readonly checkpointNs: string
  readonly before: string | null
  readonly limit: number
  readonly metadata: Readonly<Record<string, unknown>> | null
  readonly select?: StateSelection
}

/** Some states of a history, one after another. */
export interface HistoryPart {
  /** ThreadStates of the API as JSON texts, newest first. */
  readonly states: readonly JsonText[]
  /** No part follows. */
  readonly isLast: boolean
}

/** An edit of the state outside a run. */
export interface StateUpdate {
  readonly update: EditUpdate
  readonly checkpoint: CheckpointSelector | null
}

/** Effect of a new run on the unfinished ones; see `Admission`. */
export type MultitaskStrategy = 'reject' | 'enqueue' | 'interrupt' | 'rollback'

/** A change of whom an agent notifies of a task, which its first run names. */
export type PushChange =
  /** `runId`: the newest run of the task. Replaces the config with the same id. */
  | { readonly kind: 'set'; readonly taskId: string; readonly runId: string;
    readonly config: PushConfig }
  | { readonly kind: 'remove'; readonly taskId: string; readonly id: string }

/** A run as the front door resolved it: the assistant is looked up, the ids are made. */
export interface StartRun {
  readonly runId: string
  readonly assistantId: string
  readonly graphId: string
  readonly strategy: MultitaskStrategy
  /** The caller's Idempotency-Key, empty without one: the same key answers the same run. */
  readonly commandId: string
  /** Filter of threads that the caller sees; by default it sees all. A new thread always starts. */
  readonly allowed?: MetadataFilter | undefined
  /** Wins over the metadata of thread and assistant, which the thread merges under it. */
  readonly metadata: Record<string, unknown>
  /** Arguments as the run record shows them: input, command, config, … Long values are raw. */
  readonly kwargs: Record<string, unknown>
  readonly plan: RunPlan
  readonly afterMs: number
  /**
   * The caller waits for the result and keeps the run's id to itself before. Start and end of a
   * quick run may then be written in one row, which is half the work.
   */
  readonly awaited: boolean
  /** It was started before, and may be what ended its owner: it goes to disk at once. */
  readonly again?: true
  /** Milliseconds since it was started first. Missing for a first start, and from older members. */
  readonly againAfterMs?: number
  /**
   * Create the thread if it is missing, with the run's metadata; `hidden`: not listed while the
   * run is temporary.
   */
  readonly ifMissing: 'reject' | 'create' | 'hidden'
  /** Whom to notify of its task; the task is filled in. */
  readonly push?: PushConfig
  /**
   * An answer that names an interrupt which does not wait when the run starts, or that could be for
   * several, ends the run as an UnknownInterruptError. Nothing is executed, and the thread stays.
   */
  readonly strictResume?: true
  /** If the thread waits at an interrupt when the run is admitted, the input is the answer. */
  readonly answersIfWaiting?: true
  /**
   * Throws `invalid` if nothing waits for an answer when the run is admitted. A strict answer is
   * admitted, and refused when its turn comes.
   */
  readonly resumeOnly?: true
}

/** Data for the execution of a run beside `kwargs`; never shown to clients. */
export interface RunPlan {
  readonly graphId: string
  /** The assistant's metadata, merged under the thread's and the run's. */
  readonly assistantMetadata: Record<string, unknown>
  /** `x-…` request headers for `configurable`. */
  readonly headers: Record<string, string>
  readonly userId: string
  /** The id of the request that created the run; missing for the runs of crons. */
  readonly requestId?: string
  /** The caller as the login of its project made it; missing if there is none. */
  readonly user?: AppUser
  readonly resumable: boolean
  /** Stateless: remove the thread when the run is done. */
  readonly temporary: boolean
  /** Longest time of an attempt, without the time between two owners. */
  readonly timeoutMs: number
  /** The URL that gets a POST when the run ends. */
  readonly webhook?: string
  /** Places of raw values in the text of `kwargs`. Its thread adds them. */
  readonly rawKwargs?: readonly RawPlace[]
  /** The trace that the run is part of; missing if nothing is traced. */
  readonly trace?: string
  /** Its executions make events of protocol v2, beside those of its stream modes. */
  readonly threadEvents?: boolean
  /** True if a client waits for its end, or follows it, from the start: it begins before others. */
  readonly isAwaited?: boolean
  /** The due time that it was made for; missing if a client asked for it. */
  readonly due?: RunDue
  /** The revision of its deployment that its caller named; missing if it is left to that. */
  readonly revision?: string
  /** The trial run of a revision: it starts although its deployment is paused. */
  readonly trial?: boolean
  /** A message for the run before it, which takes it into its state if it can. */
  readonly injects?: true
  /**
   * Of a temporary run: its thread stays, for so many minutes, if the run ends with a question, or
   * if nobody discards the thread when the result was delivered.
   */
  readonly keptMinutes?: number
  /** The first run of the task that it goes on with; missing for a first run. */
  readonly task?: string
  /** Fingerprints of the interrupts that the run resumes. It fails if any is closed by then. */
  readonly answers?: readonly string[]
}

/** A due time of a cron. */
export interface RunDue {
  readonly cronId: string
  readonly dueMs: number
}

/** Options of a copy of a thread. */
export interface CopyOptions {
  /**
   * A checkpoint of the root: the copy is the thread as it was there, before its next step. Throws
   * `not_found` if it is not part of the history.
   */
  readonly checkpointId?: string | undefined
  readonly allowed?: MetadataFilter | undefined
  /** Metadata of the copy. Defaults to the metadata of the thread. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
}

/** Way in which a run is cancelled, and the runs that are exempt. */
export interface CancelRun {
  readonly action: 'interrupt' | 'rollback'
  /** By default `request`. */
  readonly cause?: CancelCause
  /** Leaves a run alone whose status is another one by now. */
  readonly only?: 'pending' | 'running'
  /** Leaves a run of another assistant alone. */
  readonly ofAssistant?: string
  /**
   * Milliseconds since the response started whose client has left. The run is left alone if its
   * request was repeated since. Members of versions before ignore it.
   */
  readonly openMs?: number
}

/** A run that was accepted, and its result. */
export interface AwaitedRun {
  readonly row: RunRow
  /** As `joinRun`. `cancelled` aborts, with a HeddleError, when the caller has gone. */
  result(cancelled?: AbortSignal): Promise<JsonText>
}

/** The events of a run that are followed. */
export interface FollowRun {
  /** An event id; `-1`, `-` or null: from the start. */
  readonly after: string | null
  /** Only these API stream modes; null for all that the run has. */
  readonly modes: readonly string[] | null
  /** Instead of the start: behind this checkpoint, if the run wrote it. */
  readonly checkpointId?: string
}

/** A follow, and what the caller knows of the run. */
export interface WatchRun extends FollowRun {
  /**
   * The caller made the run, so it exists: a first follow that fails is tried again, as later ones
   * are.
   */
  readonly made?: boolean
  /**
   * Only events of these namespaces, and of the subgraphs in them that are no subagents. The empty
   * text is the root.
   */
  readonly namespaces?: readonly string[]
}

/** An event of a run as followers get it. */
export interface FeedEvent {
  /** Opaque to clients; grows along the run. */
  readonly id: string
  readonly name: string
  readonly json: JsonText
}

/** End of a follow; see `FeedListener.ended`. */
export type FeedEnd = 'over' | 'lagged' | 'lost' | 'unread'

/** Called in order, with as many events at once as there are. */
export interface FeedListener {
  events(batch: readonly FeedEvent[]): void
  /**
   * Awaited between portions of past events that are read from the log, and for a while between
   * those of a graph's bulk output; everything else is sent at once.
   */
  ready?(): Promise<void> | undefined
  /**
   * `over`: the run has ended. `lagged`: the listener was too slow. `lost`: the thread or the way
   * to it went away. `unread`: past events cannot be read now. After all but `over`, follow again.
   */
  ended(how: FeedEnd): void
}

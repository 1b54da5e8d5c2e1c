/** The commands of a thread. Each takes one turn. */

import type { Branch, CheckpointPlace, ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import type { LinePage, LossReason, ExecutionOutcome, StepBatch } from '../../graph/index.ts'
import type { MetadataFilter, RunQuery } from '../../search/index.ts'
import type { Refusal } from './refusal.ts'
import type { ReplayReading } from './replay-reading.ts'
import type { CancelRun, CreateThread, FollowRun, HistoryQuery, PushChange, StartRun, StateQuery,
  StateUpdate, ThreadPatch } from './thread-client.ts'

/** Members of the commands that change a thread, or copy it. */
export interface ThreadChange {
  /**
   * Filter of threads that the caller sees; by default it sees all. A thread that does not match in
   * the turn is `not_found`. Members of versions before ignore it.
   */
  readonly allowed?: MetadataFilter | undefined
}

/** Commands from the front door, and from other threads. */
export type ThreadCommand =
  | { readonly type: 'create'; readonly request: CreateThread }
  /**
   * `brief`: without the state values. With `most`, it is refused with `too_large` if reading them
   * takes more bytes.
   */
  | { readonly type: 'get'; readonly brief?: boolean; readonly most?: number }
  | { readonly type: 'patch' } & ThreadPatch
  /** Only the thread with this log; any if it is undefined. */
  | { readonly type: 'delete'; readonly branchId?: string | undefined;
    /** Throws `busy` for a thread with unfinished runs. */
    readonly ifIdle?: boolean } & ThreadChange
  /** Drops its history but for the newest state. Throws `busy`. */
  | { readonly type: 'keep_latest' } & ThreadChange
  /** Merges metadata into that of the newest checkpoint. */
  | {
    readonly type: 'patch_state'
    readonly metadata: Readonly<Record<string, unknown>>
  } & ThreadChange
  /** With `at`, a copy as the thread was at a checkpoint of the root, before its next step. */
  | {
    readonly type: 'copy'
    readonly targetId: string
    readonly at?: CopyPlace
    /** Metadata of the copy, as JSON. Defaults to the metadata of the thread. */
    readonly metadataJson?: JsonText
  } & ThreadChange
  | { readonly type: 'adopt'; readonly origin: Origin }
  | { readonly type: 'state'; readonly query: StateQuery }
  /** Answered with a HistorySlice; without `from`, as earlier members ask, with the text. */
  | { readonly type: 'history'; readonly query: HistoryQuery; readonly from?: HistoryPlace }
  /** Answered with the bytes that the thread takes, as the API shows them. */
  | { readonly type: 'storage' }
  | { readonly type: 'edit'; readonly update: StateUpdate } & ThreadChange
  | { readonly type: 'start'; readonly run: StartRun }
  /**
   * With `lines`, what its code wrote; with `graphs`, its subgraphs, with `effects`, its effects.
   * Members of versions before answer with the run.
   */
  | { readonly type: 'get_run'; readonly runId: string; readonly lines?: LinePage;
    readonly graphs?: true; readonly effects?: true;
    /** Asks for the thread as it was when the run began. */
    readonly replay?: ReplayReading }
  | { readonly type: 'list_runs'; readonly query: RunQuery }
  | { readonly type: 'cancel'; readonly runId: string; readonly cancel: CancelRun } & ThreadChange
  | { readonly type: 'delete_run'; readonly runId: string } & ThreadChange
  | { readonly type: 'push'; readonly change: PushChange } & ThreadChange
  | { readonly type: 'join'; readonly runId: string }

/** Commands from the thread's own executions and timers. */
export type OwnCommand =
  | { readonly type: 'steps'; readonly executionId: number; readonly batch: StepBatch;
    readonly done: (appended: Promise<void>) => void }
  | { readonly type: 'ended'; readonly executionId: number; readonly outcome: ExecutionOutcome }
  | { readonly type: 'lost'; readonly executionId: number; readonly reason: LossReason }
  /** The answer that the run begins with fits no interrupt that waits: nothing was executed. */
  | { readonly type: 'refused'; readonly executionId: number; readonly refusal: Refusal }
  | { readonly type: 'time_limit'; readonly executionId: number }
  /** A delayed run is due: start what can start. */
  | { readonly type: 'wake' }
  /** A run with a webhook is over. */
  | { readonly type: 'owed' }
  /**
   * A webhook or a notification was delivered, or given up for a reason. `over`: the task that
   * nobody is notified of any more.
   */
  | { readonly type: 'settled'; readonly runId: string; readonly delivered: boolean;
    readonly reason: string; readonly over?: string | undefined }
  /** A stateless run's thread has been kept long enough. */
  | { readonly type: 'expire' }
  /** The time to live of the thread may have ended. */
  | { readonly type: 'due' }
  /** The thread moves to another owner: start nothing more. `done` gets the end of what runs. */
  | { readonly type: 'rest'; readonly done: (rested: Promise<void>) => void }

/** Checkpoint at which a copy is made. */
export interface CopyPlace {
  readonly checkpointId: string
  /** Tasks come next there. */
  readonly waiting: boolean
}

/** Inheritance of a copy from the thread it was copied from. */
export interface Origin {
  readonly threadId: string
  readonly branch: Branch
  readonly epoch: number
  /** The last row that belongs to the copy. */
  readonly through: number
  readonly head: CheckpointPlace | null
  readonly movedBack: boolean
  readonly status: string
  readonly interruptsJson: string
  readonly metadataJson: string
  readonly configJson: string
  /** Bytes of its log: the copy counts them too. Missing from an older member. */
  readonly storedBytes?: number
  /** Parts of its log that are shown changed or not at all. Missing from an older member. */
  readonly shown?: Partial<Pick<ThreadRow,
    | 'historyStart'
    | 'historyEnds'
    | 'checkpointPatches'
    | 'waitingAt'
    | 'waits'
    | 'errorJson'>>
}

/** Begin of a part of a history. */
export interface HistoryPlace {
  /** The last state of the part before; null for the first part. */
  readonly after: string | null
  /** Characters of the largest state so far. */
  readonly largest: number
}

/** A part of a history, and where the next one begins; null after the last. */
export interface HistorySlice {
  readonly states: readonly JsonText[]
  readonly next: HistoryPlace | null
}

/** The run to follow, and the place to follow it from. */
export interface FollowRequest {
  /** Empty for the thread as a whole. */
  readonly runId: string
  readonly follow: FollowRun
  /** True for a follow of the whole thread that need not exist yet. */
  readonly waits?: boolean
}

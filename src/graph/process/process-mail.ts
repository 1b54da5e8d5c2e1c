/** The messages between a server and a graph process: plain data. */

import type { AppPlace } from '../app-thread/app-mail.ts'
import type { TraceBody } from '../engine/step-traces.ts'
import type { Execution, ExecutionOutcome, GraphDescription, LossReason, StepBatch, PauseReason,
  StoredTuple } from '../execution.ts'
import type { ItemOperation, ItemResult } from '../../items/index.ts'
import type { WrittenLines } from '../logs/run-line.ts'
import type { HostStats } from '../pool/host.ts'
import type { GraphInquiry, Reading, Result } from '../pool/worker-mail.ts'
import type { CompiledProject } from '../project/project-compiler.ts'

/** Start of a graph process, which is the first message to it. */
export interface ProcessStart {
  readonly project: CompiledProject
  readonly workers: number
  /** MiB that the graphs of one worker may fill. */
  readonly heapMb: number
  /** All that graphs see as their environment. */
  readonly environment: Readonly<Record<string, string>>
  readonly tracedRatio?: number
  /** MiB that the login and the app may fill, and their time limit; missing without them. */
  readonly app?: { readonly heapMb: number; readonly hangMs: number;
    /** Time that loading may take; missing for the default. */
    readonly startMs?: number | undefined }
}

/** A question that a host answers, apart from embedding. */
export type ProcessInquiry = Exclude<GraphInquiry, { readonly kind: 'embed' }>

/** A message to a graph process. */
export type ToProcess =
  | { readonly type: 'start'; readonly start: ProcessStart }
  | { readonly type: 'execute'; readonly execution: Execution }
  | { readonly type: 'pause'; readonly id: number; readonly why?: PauseReason | undefined }
  | { readonly type: 'abort'; readonly id: number }
  /** Stops an execution, which reports its completed steps. */
  | { readonly type: 'stop'; readonly id: number }
  /** Answers `steps`. */
  | { readonly type: 'landed'; readonly step: number; readonly isStored: boolean }
  /** Answers `read`. */
  | { readonly type: 'stored'; readonly reading: number; readonly result: Result<StoredTuple[]> }
  | { readonly type: 'ask'; readonly asking: number; readonly inquiry: ProcessInquiry }
  /** Stops an answer: its caller does not wait any more. */
  | { readonly type: 'cancel'; readonly asking: number }
  /** Answers `items`. */
  | { readonly type: 'remembered'; readonly asking: number; readonly result: Result<ItemResult[]> }
  /** Answers `trace`. */
  | { readonly type: 'traced'; readonly tracing: number; readonly result: Result<null> }
  | { readonly type: 'served'; readonly url: string | undefined }
  /** Lets runs stop at their next superstep. */
  | { readonly type: 'drain' }
  /** Queries whether the traces and recordings of ended runs are written. */
  | { readonly type: 'flush' }

/** Whose thread is read: an execution's, or a question's. */
export interface ReadFor {
  readonly kind: 'execution' | 'asking'
  readonly id: number
}

/** A message of a graph process. */
export type FromProcess =
  /** Sent before the file of a graph is imported; null after the last one. */
  | { readonly type: 'loading'; readonly graphId: string | null }
  | { readonly type: 'ready'; readonly graphs: readonly GraphDescription[];
    /** False if the project cannot trace the steps of its runs. */
    readonly traces: boolean }
  /** The login and the app answer there; null if they answer nowhere until they are replaced. */
  | { readonly type: 'moved'; readonly place: AppPlace | null }
  /** It cannot serve the project, so that it ends. */
  | { readonly type: 'refused'; readonly reason: string;
    /** True for a fault of the machine, after which another process may load the project. */
    readonly isTransient: boolean }
  | { readonly type: 'steps'; readonly id: number; readonly step: number;
    readonly batch: StepBatch }
  | { readonly type: 'ended'; readonly id: number; readonly outcome: ExecutionOutcome }
  | { readonly type: 'lost'; readonly id: number; readonly reason: LossReason }
  | { readonly type: 'read'; readonly of: ReadFor; readonly reading: number;
    readonly what: Reading }
  | { readonly type: 'answer'; readonly asking: number; readonly result: Result<unknown> }
  | { readonly type: 'items'; readonly asking: number; readonly tenant: string;
    readonly operations: readonly ItemOperation[] }
  | { readonly type: 'trace'; readonly tracing: number; readonly body: TraceBody }
  /** Lines that the code of an execution wrote to its console. */
  | { readonly type: 'wrote'; readonly id: number } & WrittenLines
  /** A line that was written outside of executions. */
  | { readonly type: 'printed'; readonly level: 'info' | 'warn'; readonly line: string }
  /** Line that the host wrote to its log. */
  | { readonly type: 'logged'; readonly level: 'debug' | 'info' | 'warn' | 'error';
    readonly message: string; readonly details: Readonly<Record<string, string>> }
  /** Sent once a second. */
  | { readonly type: 'beat'; readonly stats: HostStats; readonly residentBytes: number }
  /** Answers `drain`. */
  | { readonly type: 'drained' }
  /** Responds to `flush`, after some seconds at the latest. */
  | { readonly type: 'flushed' }

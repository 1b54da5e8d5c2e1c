/** The messages between the main thread and a graph worker: plain data, cloned on the way. */

import type { MessagePort } from 'node:worker_threads'

import { CodedError, HeddleError } from '../../errors.ts'
import type { ErrorCode } from '../../errors.ts'
import type { TraceBody } from '../engine/step-traces.ts'
import type { WorkerBatch } from '../events/worker-batch.ts'
import type { CheckpointSource, Configurable, Execution, GraphDescription, GraphSchemas,
  PauseReason, SnapshotAnswer, StateQuestion, StoredTuple, TupleQuery } from '../execution.ts'
import type { ItemOperation, ItemResult } from '../../items/index.ts'
import type { WrittenLines } from '../logs/run-line.ts'
import type { TextKind } from '../project/embedding.ts'
import type { CompiledProject } from '../project/project-compiler.ts'
import { messageOf } from '../project/thrown.ts'
import type { ExecutionMark } from './execution-marks.ts'

/** Data with which a worker thread starts. */
export interface WorkerData {
  readonly name: string
  readonly project: CompiledProject
  /**
   * Two numbers that can be read while the worker is stuck: the job whose code was entered last,
   * and how often code was entered.
   */
  readonly entered: Int32Array<SharedArrayBuffer>
  /** Carries the messages. */
  readonly port: MessagePort
  /**
   * Slot of the file in which the worker marks the run that it executes; missing if it marks none.
   */
  readonly mark?: ExecutionMark
  /** The share of runs whose steps are traced; missing for none. */
  readonly tracedRatio?: number
  /** True in a graph process, where lines of runs are sent only, and not printed as well. */
  readonly isInProcess?: boolean
}

/** A message to a worker. Work is identified by its job, a number that is unique in the process. */
export type ToWorker =
  | { readonly type: 'execute'; readonly job: number; readonly execution: Execution;
    /** No other worker has executed anything on the thread since this one did. */
    readonly warm: boolean }
  | { readonly type: 'abort'; readonly job: number }
  /** Stops an execution. Its last batch has the rest of its completed steps. */
  | { readonly type: 'stop'; readonly job: number }
  | { readonly type: 'drain' }
  | { readonly type: 'pause'; readonly job: number; readonly why?: PauseReason | undefined }
  | { readonly type: 'inquire'; readonly job: number; readonly inquiry: GraphInquiry }
  | { readonly type: 'confirm'; readonly job: number; readonly ackId: number }
  /** Answers a batch with `awaited`. */
  | { readonly type: 'landed'; readonly job: number }
  | { readonly type: 'stored'; readonly reading: number; readonly result: Result<StoredTuple[]> }
  /** Answers `items`. */
  | { readonly type: 'remembered'; readonly asking: number; readonly result: Result<ItemResult[]> }
  /** The URL at which this server answers clients; undefined if it does not. */
  | { readonly type: 'served'; readonly url: string | undefined }
  /** Answers `trace` with an HTTP status. */
  | { readonly type: 'traced'; readonly tracing: number; readonly status: number }
  /** Asks for all traces that wait in the worker. */
  | { readonly type: 'flush' }
  | { readonly type: 'ping' }

/** Messages of a worker. Those that were sent in one turn of the event loop are posted together. */
export type FromWorker = readonly WorkerMail[]

/** A message of a worker. */
export type WorkerMail =
  /** Sent before a graph's file is imported, which may block for ever; null after the last one. */
  | { readonly type: 'loading'; readonly graphId: string | null }
  /** The project's library cannot be used, so the worker ends. */
  | { readonly type: 'refused'; readonly reason: string;
    /** True for a fault of the machine, after which another worker may load the project. */
    readonly isTransient: boolean }
  | { readonly type: 'ready'; readonly graphs: readonly GraphDescription[];
    readonly failures: readonly { readonly graphId: string; readonly message: string }[];
    /** Shortcuts that do not know the project's version of the engine. */
    readonly unknown: readonly string[];
    /** Version of the engine, and the nearest known one; missing if `unknown` is empty. */
    readonly engine?: { readonly version: string; readonly nearestKnown: string };
    /** Why the steps of runs are not traced, although they should be. */
    readonly untraced?: string;
    /** Why nothing decides about the calls of runs, although something should. */
    readonly unwatched?: string }
  | { readonly type: 'batch'; readonly job: number; readonly batch: WorkerBatch;
    /** Milliseconds for which the job held the loop since its last batch; missing below one. */
    readonly heldMs?: number }
  /** The job could not continue, for a reason that is not the graph's. */
  | { readonly type: 'broken'; readonly job: number }
  | { readonly type: 'read'; readonly job: number; readonly reading: number;
    readonly what: Reading }
  /** Items that a job reads or changes. */
  | { readonly type: 'items'; readonly job: number; readonly asking: number;
    readonly operations: readonly ItemOperation[] }
  | { readonly type: 'answer'; readonly job: number; readonly result: Result<unknown> }
  /** Spans of a tenant's runs. */
  | { readonly type: 'trace'; readonly tracing: number } & TraceBody
  /** Answers `flush`. */
  | { readonly type: 'flushed' }
  /** Lines that the code of a job wrote to its console. */
  | { readonly type: 'wrote'; readonly job: number } & WrittenLines
  /** Answers `ping`, with the longest turn of the loop since the last one; missing below 1 ms. */
  | { readonly type: 'pong'; readonly heldMs?: number }

/** A question about a graph or its state. */
export type GraphInquiry =
  | { readonly kind: 'state'; readonly graphId: string; readonly threadId: string;
    readonly question: StateQuestion }
  | { readonly kind: 'embed'; readonly texts: readonly string[]; readonly textKind: TextKind }
  | { readonly graphId: string; readonly configurable?: Configurable | undefined } & (
    | { readonly kind: 'schemas' }
    | { readonly kind: 'subgraphSchemas'; readonly namespace: string | null;
      readonly recurse: boolean }
    | { readonly kind: 'drawable'; readonly xray: boolean | number }
  )

/** Answers by kind of inquiry. The code of the project gives those their shape that are unknown. */
interface InquiryAnswers {
  readonly state: SnapshotAnswer[]
  readonly embed: unknown
  readonly schemas: GraphSchemas
  readonly subgraphSchemas: Readonly<Record<string, GraphSchemas>>
  readonly drawable: unknown
}

/** Answer to an inquiry. */
export type AnswerTo<Inquiry extends GraphInquiry> = InquiryAnswers[Inquiry['kind']]

/** One checkpoint, or a page of them. */
export type Reading =
  | { readonly kind: 'tuple'; readonly ns: string; readonly checkpointId: string | null }
  | { readonly kind: 'list'; readonly query: TupleQuery }

/** Result or error of a promise, in a form that can be posted. */
export type Result<T> = { readonly value: T } | { readonly error: MailedError }

interface MailedError {
  readonly code: ErrorCode | null
  readonly message: string
}

/** Waits for a promise and describes how it settled. Never rejects. */
export async function resultOf<T>(promise: Promise<T>): Promise<Result<T>> {
  try {
    return { value: await promise }
  } catch (error) {
    const code = error instanceof CodedError ? HeddleError.from(error).code : null
    return { error: { code, message: messageOf(error) } }
  }
}

/** Returns the value or throws the error. `otherwise` is the code of an error that has none. */
export function unwrap<T>(result: Result<T>, otherwise: ErrorCode): T {
  if ('value' in result) return result.value
  throw new HeddleError(result.error.code ?? otherwise, result.error.message)
}

/** The checkpoints. Without a source it rejects: the worker must not wait for ever. */
export async function readFrom(source: CheckpointSource | undefined,
  what: Reading): Promise<StoredTuple[]> {
  if (!source) throw nobodyWaits()
  if (what.kind === 'list') return source.list(what.query)
  const tuple = await source.tuple(what.ns, what.checkpointId)
  return tuple ? [tuple] : []
}

/** The error of work that was given up because its caller has gone. */
export function nobodyWaits(): HeddleError {
  return new HeddleError('unavailable', 'Nobody waits for this any more.')
}

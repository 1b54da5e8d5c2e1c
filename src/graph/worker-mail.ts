/** What the main thread and a graph worker say to each other: plain data, cloned on the way. */

import type { MessagePort } from 'node:worker_threads'

import type { ErrorCode } from '../errors.ts'
import { HeddleError } from '../errors.ts'
import type { Execution, GraphDescription, StateQuestion, StoredTuple, TupleQuery }
  from './execution.ts'
import type { Departure } from './departure.ts'
import type { CompiledProject } from './project-compiler.ts'

export interface WorkerData {
  readonly name: string
  readonly project: CompiledProject
  /** One number: the job whose code was entered last, readable while the worker is stuck. */
  readonly entered: Int32Array<SharedArrayBuffer>
  /** Where the mail goes through. */
  readonly port: MessagePort
}

/** Work is known by its job: a number that is given out once in a process. */
export type ToWorker =
  | { readonly type: 'execute'; readonly job: number; readonly execution: Execution
      /** Nobody else has executed anything on the thread since this worker did. */
      readonly warm: boolean }
  | { readonly type: 'abort'; readonly job: number }
  | { readonly type: 'drain' }
  | { readonly type: 'pause'; readonly job: number }
  | { readonly type: 'inquire'; readonly job: number; readonly inquiry: GraphInquiry }
  | { readonly type: 'confirm'; readonly job: number; readonly receipt: number }
  /** Of a departure that is awaited. */
  | { readonly type: 'landed'; readonly job: number }
  | { readonly type: 'stored'; readonly reading: number; readonly result: Result<StoredTuple[]> }
  /** Where this server answers clients; undefined where it does not. */
  | { readonly type: 'served'; readonly url: string | undefined }
  | { readonly type: 'ping' }

/** Messages that were sent without a pause travel together. */
export type FromWorker = readonly WorkerMail[]

export type WorkerMail =
  /** Before the file of a graph is imported, which may keep the worker for ever; null after all. */
  | { readonly type: 'loading'; readonly graphId: string | null }
  /** The project's library cannot be used, so that the worker ends. */
  | { readonly type: 'refused'; readonly reason: string }
  | { readonly type: 'ready'; readonly graphs: readonly GraphDescription[]
      readonly failures: readonly { readonly graphId: string; readonly message: string }[] }
  | { readonly type: 'departure'; readonly job: number; readonly departure: Departure }
  /** It could not go on for a reason that is not the graph's. */
  | { readonly type: 'broken'; readonly job: number }
  | { readonly type: 'read'; readonly job: number; readonly reading: number
      readonly what: Reading }
  | { readonly type: 'answer'; readonly job: number; readonly result: Result<unknown> }
  | { readonly type: 'pong' }

/** Whatever somebody wants to know of a graph. */
export type GraphInquiry =
  | { readonly kind: 'state'; readonly graphId: string; readonly threadId: string
      readonly question: StateQuestion }
  | { readonly kind: 'schemas'; readonly graphId: string }
  | { readonly kind: 'subgraphSchemas'; readonly graphId: string
      readonly namespace: string | null; readonly recurse: boolean }
  | { readonly kind: 'drawable'; readonly graphId: string; readonly xray: boolean | number }

/** One checkpoint or a page of them. */
export type Reading =
  | { readonly kind: 'tuple'; readonly ns: string; readonly checkpointId: string | null }
  | { readonly kind: 'list'; readonly query: TupleQuery }

export type Result<T> = { readonly value: T } | { readonly error: MailedError }

interface MailedError {
  readonly code: ErrorCode | null
  readonly message: string
}

/** How the promise settles, in a form that can be mailed. Never rejects. */
export async function resultOf<T>(promise: Promise<T>): Promise<Result<T>> {
  try {
    return { value: await promise }
  } catch (error) {
    const code = error instanceof HeddleError ? error.code : null
    return { error: { code, message: error instanceof Error ? error.message : String(error) } }
  }
}

/** Returns the value or throws the error. `otherwise`: the code of an error that has none. */
export function unwrap<T>(result: Result<T>, otherwise: ErrorCode): T {
  if ('value' in result) return result.value
  throw new HeddleError(result.error.code ?? otherwise, result.error.message)
}

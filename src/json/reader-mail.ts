/** Messages between the main thread and the thread that reads long JSON. */

import type { ErrorCode } from '../errors.ts'
import type { Path } from './pick.ts'
import type { Carried } from './split.ts'

/** JSON of a client. `what` names it in errors. */
export interface ReadJob {
  readonly kind: 'read'
  readonly what: string
  readonly bytes: Uint8Array
  /** A number if all of it is carried. */
  readonly carried: Carried | number
}

/** A job of the thread. It is answered with a `Split`, a boolean, or a list of texts. */
export type Job =
  | ReadJob
  | { readonly kind: 'contains'; readonly text: string; readonly part: unknown }
  | { readonly kind: 'pick'; readonly text: string; readonly paths: readonly Path[] }

/** A message to the thread. */
export interface ToReader {
  readonly id: number
  readonly job: Job
}

/** A message of the thread: a value or an error. */
export interface FromReader {
  readonly id: number
  readonly value?: unknown
  readonly error?: { readonly code: ErrorCode; readonly message: string;
    readonly details: Readonly<Record<string, unknown>> }
}

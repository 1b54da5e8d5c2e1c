/** What the main thread and the thread that reads long JSON send each other. */

import type { ErrorCode } from '../errors.ts'
import type { Carried, Split } from './split.ts'

/** Long JSON to be read; `what` names it in errors. */
export interface ReadJob {
  readonly what: string
  readonly bytes: Uint8Array
  /** A number if all of it is carried. */
  readonly carried: Carried | number
}

export interface ToReader {
  readonly id: number
  readonly job: ReadJob
}

export interface FromReader {
  readonly id: number
  /** Undefined if there is an error. */
  readonly split?: Split
  readonly error?: { readonly code: ErrorCode; readonly sentence: string
    readonly facts: Readonly<Record<string, unknown>> }
}

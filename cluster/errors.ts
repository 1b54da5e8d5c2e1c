/** The errors of the cluster, and the base of all errors that may cross to another member. */

import type { Member } from './member.ts'

/** `no`: it would fail again. `same`: try the same later. `elsewhere`: ask the owner. */
export type Retry = 'no' | 'same' | 'elsewhere'

/**
 * not_done    The command was not carried out.
 * maybe_done  It may have been carried out: the same command with the same id finds out.
 */
export type Outcome = 'not_done' | 'maybe_done'

/** Details of an error that the cluster acts on. These names are on the wire between members. */
export interface ErrorDetails {
  /** Of `not_owner`: the owner that the asked member knows. */
  readonly owner?: Member
  /** The epoch of that owner. */
  readonly epoch?: number
  /** Read as `outcome`: true for `maybe_done`. */
  readonly ambiguous?: boolean
  /** A final refusal, although an earlier try of the same command may have been carried out. */
  readonly again?: boolean
  /** Nothing was sent, because the connection could not be made for this reason. */
  readonly unreachable?: string
  /** One of the two members refuses the other: for its secret, or for its protocol. */
  readonly distrust?: 'secret' | 'dialect'
  /** The connection's own words about its failure, for the log. */
  readonly details?: string
}

/** The message of what was thrown; its text if that is no error. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** Characters of a message, which may quote the request: longer headers end a whole connection. */
const messageMax = 2_000

/** An error that a caller may see. Its message says what to do. */
export abstract class CodedError<Code extends string = string,
  Details extends ErrorDetails = ErrorDetails>
  extends Error {
  readonly code: Code
  /** Travels with the error. Only what `Details` names may steer control flow. */
  readonly details: Details & Readonly<Record<string, unknown>>

  constructor(code: Code, message: string, details: Details & Readonly<Record<string, unknown>>,
    options?: ErrorOptions) {
    super(message.length > messageMax ? `${message.slice(0, messageMax)}…` : message, options)
    this.code = code
    this.details = details
  }

  /** A number of google.rpc.Code. */
  abstract get grpcStatus(): number
  abstract get retry(): Retry
  /** The same error with more details; this one is its cause. */
  abstract with(details: Details): CodedError<Code, Details>

  get outcome(): Outcome {
    return this.details.ambiguous === true ? 'maybe_done' : 'not_done'
  }
}

interface CatalogueEntry {
  readonly grpc: number
  readonly retry: Retry
  readonly message: string
}

/** Errors that the cluster itself throws. gRPC numbers are those of google.rpc.Code. */
export const clusterErrors = {
  not_owner: { grpc: 9, retry: 'elsewhere', message: 'Another member owns this.' },
  unavailable: { grpc: 14, retry: 'same', message: 'Not available right now.' },
  full: { grpc: 8, retry: 'same', message: 'Too much is waiting here; try later.' },
  internal: { grpc: 13, retry: 'same', message: 'Something went wrong here.' },
  too_large: { grpc: 8, retry: 'no', message: 'The body is too large.' },
  unsupported: { grpc: 12, retry: 'no', message: 'This is not offered yet.' },
  not_found: { grpc: 5, retry: 'no', message: 'There is nothing here.' },
  invalid: { grpc: 3, retry: 'no', message: 'The request is not valid.' },
  forbidden: { grpc: 7, retry: 'no', message: 'This is not allowed.' },
} as const satisfies Record<string, CatalogueEntry>

/** The codes of what the cluster itself throws. */
export type ClusterErrorCode = keyof typeof clusterErrors

/** An error that the cluster itself throws. */
export class ClusterError extends CodedError<ClusterErrorCode> {
  override readonly name = 'ClusterError'

  constructor(code: ClusterErrorCode, message?: string, details: ErrorDetails = {},
    options?: ErrorOptions) {
    super(code, message ?? clusterErrors[code].message, { ...details }, options)
  }

  get grpcStatus(): number {
    return clusterErrors[this.code].grpc
  }

  get retry(): Retry {
    return clusterErrors[this.code].retry
  }

  with(details: ErrorDetails): ClusterError {
    return new ClusterError(this.code, this.message, { ...this.details, ...details }, {
      cause: this,
    })
  }
}

/** Makes the error that another member threw from what came over the wire. */
export type ReviveError = (code: string, message: string,
  details: CodedError['details']) => CodedError

/** Knows the errors of the cluster alone: others, as from a newer member, become `internal`. */
export const reviveClusterError: ReviveError = (code, message, details) =>
  new ClusterError(isClusterCode(code) ? code : 'internal', message, details)

function isClusterCode(code: string): code is ClusterErrorCode {
  return Object.hasOwn(clusterErrors, code)
}

/** The error for the wire: a bug becomes `internal` and says nothing. */
export function asCoded(caught: unknown): CodedError {
  if (caught instanceof CodedError) return caught
  return new ClusterError('internal', undefined, {}, { cause: caught })
}

/** True for a coded error with one of these codes. */
export function hasCode(error: unknown, code: ClusterErrorCode): error is CodedError {
  return error instanceof CodedError && error.code === code
}

/** The message of `goingAway`, which the server's own errors use as well. */
export const goingAwayMessage = 'This member is going away; ask again.'

/** Error of a member that accepts no new work: a repeated request reaches another member. */
export function goingAway(): ClusterError {
  return new ClusterError('unavailable', goingAwayMessage)
}

/** Throws if `condition` does not hold: a bug of ours, never a mistake of a caller. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}

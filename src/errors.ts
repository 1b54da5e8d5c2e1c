/** The one catalogue of errors: code, message, HTTP and gRPC status, and whether to ask again. */

import { assert, clusterErrors, CodedError, goingAwayMessage,
  messageOf } from '../cluster/errors.ts'
import type { ErrorDetails, ReviveError, Retry } from '../cluster/errors.ts'

export { assert, CodedError, messageOf }

interface CatalogueEntry {
  readonly http: number
  readonly grpc: number
  readonly retry: Retry
  readonly message: string
}

/**
 * All errors. The official client repeats every 5xx and 429, before 1.13 POST included, so a
 * permanent error is never one of them. The exception is `out_of_quota`, which is refused before
 * anything is done. gRPC numbers are those of google.rpc.Code.
 */
const catalogue = {
  invalid: { http: 422, ...clusterErrors.invalid },
  malformed: { http: 400, grpc: 3, retry: 'no', message: 'The body is not valid JSON.' },
  not_found: { http: 404, ...clusterErrors.not_found },
  wrong_method: { http: 405, grpc: 12, retry: 'no', message: 'This takes another method.' },
  exists: { http: 409, grpc: 6, retry: 'no', message: 'It exists already.' },
  stale: { http: 409, grpc: 10, retry: 'no', message: 'It was changed meanwhile.' },
  not_ready: { http: 409, grpc: 9, retry: 'no', message: 'It is not ready for this.' },
  busy: { http: 409, grpc: 9, retry: 'no', message: 'The thread is busy.' },
  partly_done: { http: 409, grpc: 10, retry: 'no', message: 'Only a part of it was done.' },
  in_use: { http: 409, grpc: 9, retry: 'no', message: 'It is in use.' },
  missing_node: { http: 409, grpc: 9, retry: 'no',
    message: 'The thread waits at a node that its graph does not have.' },
  rejected: { http: 422, grpc: 9, retry: 'no',
    message: 'Thread is already running a task. Wait for it to finish or choose a different ' +
      'multitask strategy.' },
  too_large: { http: 413, ...clusterErrors.too_large },
  unsupported: { http: 422, ...clusterErrors.unsupported },
  unauthenticated: { http: 401, grpc: 16, retry: 'no',
    message:
      'Say who you are: send an API key as x-api-key, or a signed token as a bearer token.' },
  forbidden: { http: 403, ...clusterErrors.forbidden },
  limited: { http: 429, grpc: 8, retry: 'same', message: 'More requests than the limit allows.' },
  full: { http: 429, ...clusterErrors.full },
  over_quota: { http: 429, grpc: 8, retry: 'same', message: 'This would be over a quota.' },
  out_of_quota: { http: 507, grpc: 8, retry: 'no', message: 'A quota is used up.' },
  not_owner: { http: 503, ...clusterErrors.not_owner },
  unavailable: { http: 503, ...clusterErrors.unavailable },
  stale_append: { http: 503, grpc: 10, retry: 'elsewhere',
    message: 'A newer owner has written to this log.' },
  graph_failed: { http: 422, grpc: 9, retry: 'no', message: 'The graph could not do this.' },
  model_failed: { http: 422, grpc: 9, retry: 'no', message: 'The model could not do this.' },
  internal: { http: 500, ...clusterErrors.internal },
} as const satisfies Record<string, CatalogueEntry>

/** Name of an error, which clients and members see. */
export type ErrorCode = keyof typeof catalogue

/** All codes of the catalogue. */
export const errorCodes = Object.keys(catalogue) as readonly ErrorCode[]

/** True if the catalogue has the code. A newer member may have more. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(catalogue, text)
}

/** Details beside the code that the server acts on. All are on the wire between members. */
export interface HeddleDetails extends ErrorDetails {
  /** The write that failed is not in the log and will not be. */
  readonly unwritten?: boolean
  /** Of a caller that waits for a run: the run is on disk, so it must not be started again. */
  readonly written?: boolean
  /** Of `not_found`: the thread was deleted during the wait for its run. */
  readonly deleted?: boolean
  /** The log belongs to a life that has ended. */
  readonly dead?: boolean
  /** Of `too_large`: how many bytes would have been needed. */
  readonly bytes?: number
  /** Seconds after which a repeated request may succeed. */
  readonly retryAfterSeconds?: number
  /** Of `model_failed`: the HTTP status that its endpoint answered. */
  readonly answeredStatus?: number
  /** Of a refusal by the login of a project: the status and the headers that it answers with. */
  readonly refusal?: { readonly status: number;
    readonly headers: readonly (readonly [name: string, value: string])[] }
  /** Of `wrong_method`: the methods that are allowed, as the header of that name has them. */
  readonly allow?: string
}

/** An error that a caller may see. Its message says what to do. */
export class HeddleError extends CodedError<ErrorCode, HeddleDetails> {
  override readonly name = 'HeddleError'

  constructor(code: ErrorCode, message?: string, details: HeddleError['details'] = {},
    options?: { cause?: unknown }) {
    super(code, message ?? catalogue[code].message, details, options)
  }

  get httpStatus(): number {
    return this.details.refusal?.status ?? catalogue[this.code].http
  }
  get grpcStatus(): number {
    return catalogue[this.code].grpc
  }
  get retry(): Retry {
    return catalogue[this.code].retry
  }

  /** The same error with more details. This one is its cause. */
  with(details: HeddleError['details']): HeddleError {
    return new HeddleError(this.code, this.message, { ...this.details, ...details }, {
      cause: this,
    })
  }

  /** The error for the wire. One that is not ours becomes `internal` and says nothing. */
  static from(caught: unknown): HeddleError {
    if (caught instanceof HeddleError) return caught
    if (!(caught instanceof CodedError)) {
      return new HeddleError('internal', undefined, {}, { cause: caught })
    }
    // The cluster threw it: its codes are in the catalogue.
    const { code, message, details, cause, stack } = caught
    const error = new HeddleError(code as ErrorCode, message, details, cause ? { cause } : {})
    error.stack = stack ?? ''
    return error
  }

  /** Another member threw it. A newer one may know more codes. */
  static revive(...[code, message, details]: Parameters<ReviveError>): HeddleError {
    return new HeddleError(isErrorCode(code) ? code : 'internal', message, details)
  }
}

const ownFailures: ReadonlySet<string> = new Set<ErrorCode>(['unavailable', 'not_owner',
  'stale_append'])

/**
 * True if this server failed, or its store, and not what was asked. Whether that was done is not
 * known, so it is asked again.
 */
export function isOwnFailure({ code }: { readonly code: string }): boolean {
  return ownFailures.has(code)
}

/**
 * The error of a member that accepts nothing new. A repeated request reaches another member, or a
 * new one.
 */
export function goingAway(details: HeddleError['details'] = {}): HeddleError {
  return new HeddleError('unavailable', goingAwayMessage, details)
}

/** For a `catch`: throws the error again, unless it is `not_found`. */
export function ignoreNotFound(error: unknown): undefined {
  if (HeddleError.from(error).code !== 'not_found') throw error
}

/** For a `catch`: throws the error again, unless it is `stale`. */
export function ignoreStale(error: unknown): undefined {
  if (HeddleError.from(error).code !== 'stale') throw error
}

/** For the `catch` of a read: an ambiguous outcome makes no difference there. */
export function asUnread(error: unknown): never {
  if (!(error instanceof CodedError) || error.outcome === 'not_done') throw error
  throw new HeddleError('unavailable', 'This cannot be read right now: ask again in a moment.', {},
    { cause: error })
}

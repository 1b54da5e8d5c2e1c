/** The one catalogue of errors: code, message, HTTP and gRPC status, and whether to ask again. */

/** `no`: it would fail again. `same`: try the same later. `elsewhere`: ask the owner. */
export type Retry = 'no' | 'same' | 'elsewhere'

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
  invalid: { http: 422, grpc: 3, retry: 'no', message: 'The request is not valid.' },
  malformed: { http: 400, grpc: 3, retry: 'no', message: 'The body is not valid JSON.' },
  not_found: { http: 404, grpc: 5, retry: 'no', message: 'There is nothing here.' },
  wrong_method: { http: 405, grpc: 12, retry: 'no', message: 'This takes another method.' },
  exists: { http: 409, grpc: 6, retry: 'no', message: 'It exists already.' },
  busy: { http: 409, grpc: 9, retry: 'no', message: 'The thread is busy.' },
  missing_node: { http: 409, grpc: 9, retry: 'no',
    message: 'The thread waits at a node that its graph does not have.' },
  rejected: { http: 422, grpc: 9, retry: 'no',
    message: 'Thread is already running a task. Wait for it to finish or choose a different ' +
      'multitask strategy.' },
  too_large: { http: 413, grpc: 8, retry: 'no', message: 'The body is too large.' },
  unsupported: { http: 422, grpc: 12, retry: 'no', message: 'This is not offered yet.' },
  unauthenticated: { http: 401, grpc: 16, retry: 'no',
    message:
      'Say who you are: send an API key as x-api-key, or a signed token as a bearer token.' },
  forbidden: { http: 403, grpc: 7, retry: 'no', message: 'This is not allowed.' },
  limited: { http: 429, grpc: 8, retry: 'same', message: 'More requests than the limit allows.' },
  full: { http: 429, grpc: 8, retry: 'same', message: 'Too much is waiting here; try later.' },
  over_quota: { http: 429, grpc: 8, retry: 'same', message: 'This would be over a quota.' },
  out_of_quota: { http: 507, grpc: 8, retry: 'no', message: 'A quota is used up.' },
  not_owner: { http: 503, grpc: 9, retry: 'elsewhere', message: 'Another member owns this.' },
  unavailable: { http: 503, grpc: 14, retry: 'same', message: 'Not available right now.' },
  stale_append: { http: 503, grpc: 10, retry: 'elsewhere',
    message: 'A newer owner has written to this log.' },
  graph_failed: { http: 422, grpc: 9, retry: 'no', message: 'The graph could not do this.' },
  internal: { http: 500, grpc: 13, retry: 'same', message: 'Something went wrong here.' },
} as const satisfies Record<string, CatalogueEntry>

/** Name of an error, which clients and members see. */
export type ErrorCode = keyof typeof catalogue

/** All codes of the catalogue. */
export const errorCodes = Object.keys(catalogue) as readonly ErrorCode[]

/** True if the catalogue has the code. A newer member may have more. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(catalogue, text)
}

/**
 * Characters of a message. Some quote what was sent. More than headers hold would end a whole
 * connection of gRPC.
 */
const messageMax = 2_000

function shortened(message: string): string {
  return message.length > messageMax ? `${message.slice(0, messageMax)}…` : message
}

/** An error that a caller may see. Its message says what to do. */
export class HeddleError extends Error {
  override readonly name = 'HeddleError'
  readonly code: ErrorCode
  /** Details that travel with the error, such as the owner that `not_owner` knows. */
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message?: string, details: Readonly<Record<string, unknown>> = {},
    options?: { cause?: unknown }) {
    super(shortened(message ?? catalogue[code].message), options)
    this.code = code
    this.details = details
  }

  get httpStatus(): number {
    return catalogue[this.code].http
  }
  get grpcStatus(): number {
    return catalogue[this.code].grpc
  }
  get retry(): Retry {
    return catalogue[this.code].retry
  }

  /** True if the request may have been carried out all the same. */
  get ambiguous(): boolean {
    return this.details['ambiguous'] === true
  }

  /** The same error with more details. This one is its cause. */
  with(details: Readonly<Record<string, unknown>>): HeddleError {
    return new HeddleError(this.code, this.message, { ...this.details, ...details }, {
      cause: this,
    })
  }

  /** The error for the wire. One that is not ours becomes `internal` and says nothing. */
  static from(caught: unknown): HeddleError {
    if (caught instanceof HeddleError) return caught
    return new HeddleError('internal', undefined, {}, { cause: caught })
  }
}

/**
 * The error of a member that accepts nothing new. A repeated request reaches another member, or a
 * new one.
 */
export function goingAway(details: Readonly<Record<string, unknown>> = {}): HeddleError {
  return new HeddleError('unavailable', 'This member is going away; ask again.', details)
}

/** For a `catch`: throws the error again, unless it is `not_found`. */
export function ignoreNotFound(error: unknown): undefined {
  if (HeddleError.from(error).code !== 'not_found') throw error
}

/** For the `catch` of a read: an ambiguous outcome makes no difference there. */
export function asUnread(error: unknown): never {
  if (!(error instanceof HeddleError) || !error.ambiguous) throw error
  throw new HeddleError('unavailable', 'This cannot be read right now: ask again in a moment.', {},
    { cause: error })
}

/** Throws if `condition` does not hold, which is a bug of ours and never a mistake of a caller. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}

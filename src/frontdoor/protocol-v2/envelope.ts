/** The answers to commands of protocol v2, as JSON. */

import type { JsonText } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import type { ErrorCode } from '../../errors.ts'

/** Why a command was refused, in the words of the protocol. */
export type ProtocolErrorCode =
  | 'invalid_argument'
  | 'unknown_command'
  | 'unknown_error'
  | 'no_such_run'
  | 'no_such_subscription'
  | 'no_such_namespace'
  | 'no_such_interrupt'
  | 'no_such_checkpoint'
  | 'permission_denied'
  | 'not_supported'

/** A command that was refused. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  readonly code: ProtocolErrorCode

  constructor(code: ProtocolErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Answer to a command that was carried out. */
export interface Outcome {
  readonly result: JsonText
  /** Events up to this `seq` were before the command. */
  readonly appliedThroughSeq?: number
}

const refusals: Partial<Readonly<Record<ErrorCode, ProtocolErrorCode>>> = {
  invalid: 'invalid_argument',
  malformed: 'invalid_argument',
  not_found: 'invalid_argument',
  too_large: 'invalid_argument',
  rejected: 'invalid_argument',
  unsupported: 'not_supported',
  forbidden: 'permission_denied',
  unauthenticated: 'permission_denied',
}

/** Errors that HTTP answers with their own status; all others are answers of the protocol. */
const ofHttp: ReadonlySet<ErrorCode> = new Set(['not_found', 'unauthenticated', 'forbidden',
  'limited', 'full', 'over_quota', 'out_of_quota', 'not_owner', 'unavailable', 'stale_append',
  'internal'])

/** True for an error that a request over HTTP is answered with by its status. */
export function hasOwnStatus(error: unknown): boolean {
  return !(error instanceof ProtocolError) && ofHttp.has(HeddleError.from(error).code)
}

/** The answer to a command that was carried out. */
export function successText(id: number, threadId: string,
  { result, appliedThroughSeq }: Outcome): JsonText {
  const through = appliedThroughSeq === undefined
    ? ''
    : `,"applied_through_seq":${appliedThroughSeq}`
  return `{"type":"success","id":${id},"result":${result},` +
    `"meta":{"thread_id":${JSON.stringify(threadId)}${through}}}`
}

/** The answer to a command that was refused. `id` is null if the command cannot be read. */
export function errorText(id: number | null, threadId: string, error: unknown): JsonText {
  const { code, message, retryAfterSeconds } = refusalOf(error)
  return JSON.stringify({
    type: 'error',
    id,
    error: code,
    message,
    meta: { thread_id: threadId,
      ...retryAfterSeconds !== undefined && { retry_after_seconds: retryAfterSeconds } },
  })
}

interface Refusal {
  readonly code: ProtocolErrorCode
  readonly message: string
  readonly retryAfterSeconds?: number | undefined
}

function refusalOf(error: unknown): Refusal {
  if (error instanceof ProtocolError) return error
  const { code, message, details, retry } = HeddleError.from(error)
  return { code: refusals[code] ?? 'unknown_error', message,
    retryAfterSeconds: details.retryAfterSeconds ?? (retry === 'no' ? undefined : 1) }
}

/** Errors of A2A: their codes in JSON-RPC, and the details that programs read. */

import { HeddleError } from '../../errors.ts'
import type { ErrorCode } from '../../errors.ts'
import { rpcErrorCodes } from '../json-rpc.ts'
import type { Fault } from '../schema/validation.ts'
import type { Dialect } from './methods.ts'

const codes = {
  json_parse: rpcErrorCodes.unreadable,
  invalid_request: rpcErrorCodes.invalidRequest,
  method_not_found: rpcErrorCodes.unknownMethod,
  invalid_params: rpcErrorCodes.invalidParams,
  internal: rpcErrorCodes.internal,
  task_not_found: -32001,
  task_not_cancelable: -32002,
  push_notification_not_supported: -32003,
  unsupported_operation: -32004,
  content_type_not_supported: -32005,
  version_not_supported: -32009,
} as const

/** Kind of an error, after its name in the specification. */
export type A2aErrorKind = keyof typeof codes

/** A request of an agent that was refused. */
export class A2aError extends Error {
  override readonly name = 'A2aError'
  readonly kind: A2aErrorKind
  readonly faults: readonly Fault[]
  /** Details of the error, by name. */
  readonly about: Readonly<Record<string, string>>

  constructor(kind: A2aErrorKind, message: string, { faults = [], about = {}, cause }: {
    readonly faults?: readonly Fault[]
    readonly about?: Readonly<Record<string, string>>
    readonly cause?: unknown
  } = {}) {
    super(message, { cause })
    this.kind = kind
    this.faults = faults
    this.about = about
  }
}

/** The error object of JSON-RPC. */
export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data: unknown
}

/** Codes of ours that say something about the request itself. */
const kinds: Partial<Readonly<Record<ErrorCode, A2aErrorKind>>> = {
  malformed: 'json_parse',
  invalid: 'invalid_params',
  too_large: 'invalid_params',
  not_found: 'invalid_params',
  rejected: 'unsupported_operation',
  unsupported: 'unsupported_operation',
  not_ready: 'unsupported_operation',
  busy: 'unsupported_operation',
}

/** The error of A2A for anything that was thrown. One that is not ours says nothing. */
export function a2aErrorOf(caught: unknown): A2aError {
  if (caught instanceof A2aError) return caught
  const { code, message, details } = HeddleError.from(caught)
  const faults = (details as { readonly errors?: readonly Fault[] }).errors ?? []
  return new A2aError(kinds[code] ?? 'internal', message, { faults, about: { code },
    cause: caught })
}

/** The HTTP status of an error: 200, unless it is about the agent, who may ask it, or how often. */
export function statusOf({ cause }: A2aError): number {
  if (cause === undefined) return 200
  const { code, httpStatus } = HeddleError.from(cause)
  return code === 'not_found' || kinds[code] === undefined ? httpStatus : 200
}

const domain = 'a2a-protocol.org'

/** The error as a version of A2A has it: with a list of typed details, or with one object. */
export function rpcError({ kind, message, faults, about }: A2aError, dialect: Dialect): RpcError {
  const reason = kind.toUpperCase()
  const violations = faults.map(({ field, message }) => ({ field, description: message }))
  const info = { reason, domain, metadata: about }
  const data = dialect === '0.3'
    ? { ...info, ...violations.length > 0 && { fieldViolations: violations } }
    : [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', ...info }, ...violations.length > 0
      ? [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: violations }]
      : []]
  return { code: codes[kind], message, data }
}

/** Errors of JSON-RPC, with the codes that the protocol gives them. */

import { HeddleError } from '../../errors.ts'
import type { ErrorCode } from '../../errors.ts'
import { rpcErrorCodes } from '../json-rpc.ts'

/** Code of each error. Those from -32020 on are of the protocol, the others of JSON-RPC. */
export const rpcCodes = {
  unreadable: rpcErrorCodes.unreadable,
  notAMessage: rpcErrorCodes.invalidRequest,
  unknownMethod: rpcErrorCodes.unknownMethod,
  invalidParams: rpcErrorCodes.invalidParams,
  failed: rpcErrorCodes.internal,
  refused: -32_000,
  headerMismatch: -32_020,
  missingCapability: -32_021,
  unsupportedVersion: -32_022,
} as const

/** Reason of an error. */
export type RpcReason = keyof typeof rpcCodes

/** A message that is answered with an error of JSON-RPC. */
export class RpcError extends Error {
  override readonly name = 'RpcError'
  readonly reason: RpcReason
  /** HTTP status of the answer; 200 for errors that are no fault of the transport. */
  readonly status: number
  readonly data: unknown

  constructor(reason: RpcReason, message: string,
    { status = 200, data }: { readonly status?: number; readonly data?: unknown } = {}) {
    super(message)
    this.reason = reason
    this.status = status
    this.data = data
  }
}

/** The error of a request that was read, and could not be carried out. */
export function asRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error
  const { code, message, details: { errors, retryAfterSeconds } } = HeddleError.from(error)
  return new RpcError('failed', message, { data: { code, errors, retryAfterSeconds } })
}

/** Errors that no change of a message mends: who calls, how often, and the server itself. */
const ofHttp: ReadonlySet<ErrorCode> = new Set(['unauthenticated', 'forbidden', 'limited', 'full',
  'over_quota', 'out_of_quota', 'not_owner', 'unavailable', 'stale_append', 'internal'])

/** True for an error that is answered by its HTTP status, as on every other route. */
export function isOfHttp(error: unknown): boolean {
  return !(error instanceof RpcError) && ofHttp.has(HeddleError.from(error).code)
}

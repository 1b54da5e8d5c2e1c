/**
 * Errors on their way between members.
 *
 * What an actor throws crosses as an error of the catalogue: its number is the status, the rest is
 * in a trailer. A failure without that trailer is one of the connection itself.
 */

import { ServerError, Status } from 'nice-grpc-common'
import type { Metadata, ServerMiddleware } from 'nice-grpc-common'

import { ErrorDetail } from '../../../proto/gen/cluster/v1/member.ts'
import { asCoded, ClusterError, reviveClusterError } from '../../errors.ts'
import type { CodedError, ReviveError } from '../../errors.ts'
import type { Log } from '../../runtime/env.ts'

const trailerName = 'heddle-error-bin'

/** Headers have a limit: larger details are not sent. */
const detailsBytes = 16 * 1024

/** Sends what a call throws. Unknown errors are only named `internal` there, and logged in full. */
export function errorsToWire(log: Log): ServerMiddleware {
  return async function*(call, context) {
    try {
      return yield* call.next(call.request, context)
    } catch (error) {
      if (error instanceof ServerError) throw error
      if (error instanceof Error && error.name === 'AbortError') throw error
      const known = knownError(log, error)
      const detail = detailOf(known)
      context.trailer.set(trailerName, ErrorDetail.encode(detail).finish())
      throw new ServerError(known.grpcStatus, detail.message)
    }
  }
}

/** Error of a command, as its sender gets it. */
export function errorToDetail(log: Log, error: unknown): ErrorDetail {
  return detailOf(knownError(log, error))
}

function knownError(log: Log, error: unknown): CodedError {
  const known = asCoded(error)
  if (known !== error) log.error('A request of another member failed unexpectedly.', { error })
  return known
}

function detailOf({ code, message, details }: CodedError): ErrorDetail {
  const sent = Object.keys(details).length > 0 ? jsonOf(details) : ''
  const detailsJson = Buffer.byteLength(sent) > detailsBytes ? '' : sent
  return { code, message: message, detailsJson }
}

/** Empty if they cannot be serialized: the rest of the error is still sent. */
function jsonOf(details: CodedError['details']): string {
  try {
    return JSON.stringify(details)
  } catch {
    return ''
  }
}

/** The error that the other member threw; undefined if it threw none. */
export function errorFromWire(trailer: Metadata | undefined, revive?: ReviveError):
  | CodedError
  | undefined {
  const detail = trailer?.get(trailerName)
  return detail && errorFromDetail(ErrorDetail.decode(detail), revive)
}

/** The error that another member sent. `revive` knows the codes. */
export function errorFromDetail({ code, message, detailsJson }: ErrorDetail,
  revive: ReviveError = reviveClusterError): CodedError {
  const details = detailsJson === '' ? {} : JSON.parse(detailsJson) as CodedError['details']
  return revive(code, message, details)
}

/** Statuses that mean that the command was not even looked at. */
const unprocessed: readonly Status[] = [Status.UNAUTHENTICATED, Status.UNIMPLEMENTED]

/**
 * A failure of the connection to `address`, and whether the command may have been received there.
 */
export function wayFailed(address: string, error: unknown): ClusterError {
  const { code, details = '' } = error as { code?: Status; details?: string }
  if (code === Status.UNAUTHENTICATED) return untrusted(address)
  if (code !== undefined && unprocessed.includes(code)) {
    return new ClusterError('unavailable', `The member at ${address} does not speak as this one ` +
      'does: give all members versions that follow each other.', {}, { cause: error })
  }
  return ambiguous(address, details, error)
}

/** The same command sent again, with the same id, finds out what became of it. */
export function ambiguous(address: string, details: string, cause?: unknown): ClusterError {
  return new ClusterError('internal', `The way to the member at ${address} broke and it is not ` +
    'known what was done there.', { ambiguous: true, details }, { cause })
}

function untrusted(address: string): ClusterError {
  return new ClusterError('unavailable', `The member at ${address} does not trust this one: give ` +
    'all members of a cluster the same secret.', { distrust: 'secret' })
}

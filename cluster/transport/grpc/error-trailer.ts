/**
 * Errors on their way between members.
 *
 * What an actor throws crosses as an error of the catalogue: its number is the status, the rest is
 * in a trailer. A failure without that trailer is one of the connection itself.
 */

import { ServerError, Status } from 'nice-grpc-common'
import type { Metadata, ServerMiddleware } from 'nice-grpc-common'

import { ErrorDetail } from '../../../proto/gen/cluster/v1/member.ts'
import { HeddleError, isErrorCode } from '../../../src/errors.ts'
import type { Log } from '../../runtime/env.ts'

const trailerName = 'heddle-error-bin'

/** Headers have a limit: larger facts are not sent. */
const factsBytes = 16 * 1024

/** Sends what a call throws. Unknown errors are only named `internal` there, and logged in full. */
export function errorsToWire(log: Log): ServerMiddleware {
  return async function* (call, context) {
    try {
      return yield* call.next(call.request, context)
    } catch (error) {
      if (error instanceof ServerError) throw error
      if (error instanceof Error && error.name === 'AbortError') throw error
      const known = knownError(log, error)
      const detail = detailOf(known)
      context.trailer.set(trailerName, ErrorDetail.encode(detail).finish())
      throw new ServerError(known.grpcStatus, detail.sentence)
    }
  }
}

/** What a command threw, as its sender is told. */
export function errorToDetail(log: Log, error: unknown): ErrorDetail {
  return detailOf(knownError(log, error))
}

function knownError(log: Log, error: unknown): HeddleError {
  const known = HeddleError.from(error)
  if (known !== error) log.error('A request of another member failed unexpectedly.', { error })
  return known
}

function detailOf({ code, message, facts }: HeddleError): ErrorDetail {
  const told = Object.keys(facts).length > 0 ? jsonOf(facts) : ''
  const factsJson = Buffer.byteLength(told) > factsBytes ? '' : told
  return { code, sentence: message, factsJson }
}

/** Empty if they cannot be serialized: the rest of the error is still sent. */
function jsonOf(facts: HeddleError['facts']): string {
  try {
    return JSON.stringify(facts)
  } catch {
    return ''
  }
}

/** The error that the other member threw; undefined if it threw none. */
export function errorFromWire(trailer: Metadata | undefined): HeddleError | undefined {
  const detail = trailer?.get(trailerName)
  return detail && errorFromDetail(ErrorDetail.decode(detail))
}

export function errorFromDetail({ code, sentence, factsJson }: ErrorDetail): HeddleError {
  const facts = factsJson === '' ? {} : JSON.parse(factsJson) as Record<string, unknown>
  // A newer member may know more codes.
  return new HeddleError(isErrorCode(code) ? code : 'internal', sentence, facts)
}

/** Statuses that mean that the command was not even looked at. */
const unheard: readonly Status[] = [Status.UNAUTHENTICATED, Status.UNIMPLEMENTED]

/** A failure of the connection to `address`, and whether the command may have been heard there. */
export function wayFailed(address: string, error: unknown): HeddleError {
  const { code, details = '' } = error as { code?: Status; details?: string }
  if (code === Status.UNAUTHENTICATED) return untrusted(address)
  if (code !== undefined && unheard.includes(code)) {
    return new HeddleError('unavailable', `The member at ${address} does not speak as this one ` +
      'does: give all members versions that follow each other.', {}, { cause: error })
  }
  return ambiguous(address, details, error)
}

/** The same command sent again, with the same id, finds out what became of it. */
export function ambiguous(address: string, details: string, cause?: unknown): HeddleError {
  return new HeddleError('internal', `The way to the member at ${address} broke and it is not ` +
    'known what was done there.', { ambiguous: true, details }, { cause })
}

function untrusted(address: string): HeddleError {
  return new HeddleError('unavailable', `The member at ${address} does not trust this one: give ` +
    'all members of a cluster the same secret.', { distrust: 'secret' })
}

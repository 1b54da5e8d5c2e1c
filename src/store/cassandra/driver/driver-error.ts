/** Outcome of a request by its driver error: it was done, was not, or may have been. */

import { errors, types } from 'cassandra-driver'

import { HeddleError } from '../../../errors.ts'
import { memberOf } from '../../../json/index.ts'

/**
 * not_done  no replica has received it, and the same request may succeed later
 * refused   it was not done and never will be as it is
 * unknown   it may have been done, or may be done later
 */
export type Outcome = 'not_done' | 'refused' | 'unknown'

const { responseErrorCodes: codes } = types

/** Codes that a coordinator returns before it sends anything to a replica. */
const beforeSending: readonly number[] = [codes.unavailableException, codes.overloaded,
  codes.isBootstrapping]

/**
 * True if a node could not read the tables of roles and permissions in time. It answers then as if
 * nothing were permitted (CassandraAuthorizer and PasswordAuthenticator of Apache Cassandra).
 */
function isUndecided({ code, message }: errors.ResponseError): boolean {
  return (code === codes.unauthorized || code === codes.badCredentials)
    && message.startsWith('Unable to perform auth')
}

const permanent: readonly number[] = [codes.protocolError, codes.badCredentials, codes.syntaxError,
  codes.unauthorized, codes.invalid, codes.configError, codes.alreadyExists]

/** Outcome of a plain request that the driver did not repeat on its own. */
export function outcomeOf(error: unknown): Outcome {
  if (error instanceof errors.ResponseError) {
    if (beforeSending.includes(error.code) || isUndecided(error)) return 'not_done'
    return permanent.includes(error.code) ? 'refused' : 'unknown'
  }
  if (error instanceof errors.ArgumentError || error instanceof TypeError) return 'refused'
  return wasSent(error) ? 'unknown' : 'not_done'
}

/**
 * Outcome of a compare-and-set. A coordinator that finds too few replicas for the last of its
 * rounds returns the same error as one that finds too few for the first.
 */
export function swapOutcomeOf(error: unknown): Outcome {
  const outcome = outcomeOf(error)
  return outcome === 'not_done' && wasSent(error) ? 'unknown' : outcome
}

/** The error that callers see for a request that was refused for good. */
export function refusal(error: unknown): HeddleError {
  if (error instanceof errors.ResponseError && error.code === codes.unauthorized) {
    const message = `Cassandra allows this user too little: ${error.message}. Let an ` +
      'administrator grant it.'
    return new HeddleError('internal', message, {}, { cause: error })
  }
  return new HeddleError('internal', undefined, {}, { cause: error })
}

/** True if the request may have left this process. */
function wasSent(error: unknown): boolean {
  if (error instanceof errors.BusyConnectionError) return false
  if (error instanceof errors.NoHostAvailableError) {
    // A text stands for a host that was not asked.
    return Object.values(error.innerErrors ?? {})
      .some((inner: unknown) => inner != null && typeof inner !== 'string' && wasSent(inner))
  }
  return memberOf(error, 'requestNotWritten') !== true
}

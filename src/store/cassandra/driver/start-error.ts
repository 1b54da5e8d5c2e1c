/** Reasons why a member cannot reach Cassandra when it starts, in words that say what to do. */

import { errors } from 'cassandra-driver'

import { HeddleError } from '../../../errors.ts'
import { memberOf, objectOf, textAt } from '../../../json/index.ts'

/** Address and login of an attempt to connect. */
export interface Attempt {
  readonly contactPoints: readonly string[]
  readonly localDataCenter: string
  readonly user?: string
}

/** The only sign that there are hosts, but none in the local data center. */
const otherDataCenters = /only found hosts in data centers: \[(.*)\]/

/** The error as the person who starts a member sees it. */
export function startError(caught: unknown, attempt: Attempt): HeddleError {
  if (caught instanceof HeddleError) return caught
  const cause = caught instanceof errors.NoHostAvailableError ? innerError(caught) : caught
  return new HeddleError('unavailable', messageText(cause, attempt), {}, { cause: caught })
}

function messageText(cause: unknown, attempt: Attempt): string {
  const { localDataCenter, user } = attempt
  const points = attempt.contactPoints.join(', ')
  const dataCenters = otherDataCenters.exec(messageOf(cause))?.[1]
  if (dataCenters !== undefined) {
    return `Cassandra has no data center ${localDataCenter}; it has ${dataCenters}. Name one of ` +
      'these with --local-datacenter.'
  }
  if (cause instanceof errors.AuthenticationError) {
    return user === undefined
      ? `Cassandra at ${points} asks for a user and a password. Give both.`
      : `Cassandra at ${points} does not know the user ${user} with this password. ` +
        'Correct the user or the password.'
  }
  const code = codeOf(cause)
  if (/^(ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED|EPROTO)/.test(code)) {
    return `The TLS connection to Cassandra at ${points} fails: ${messageOf(cause)}. ` +
      'Check the certificate files, and that Cassandra offers TLS there.'
  }
  return `Cassandra cannot be reached at ${points}: ${reasonOf(cause, code)}. Start it there, or ` +
    'name other hosts with --contact-points.'
}

function reasonOf(cause: unknown, code: string): string {
  switch (code) {
    case 'ECONNREFUSED':
      return 'nothing listens there'
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'the name is not known'
    case 'ECONNRESET':
    case 'EPIPE':
      return 'the connection was cut at once'
    default:
      return cause instanceof errors.OperationTimedOutError || code === 'ETIMEDOUT'
        ? 'there is no answer'
        : messageOf(cause) || 'no host answers'
  }
}

/** The most telling of the errors of all hosts. */
function innerError(error: errors.NoHostAvailableError): unknown {
  const inner = Object.values(objectOf(error.innerErrors))
  return inner.find((each) => each instanceof errors.AuthenticationError) ?? inner[0] ??
    new Error('the names are not known')
}

function codeOf(cause: unknown): string {
  const [code, inner] = [textAt(cause, 'code'), memberOf(cause, 'innerError')]
  return code ?? (inner === undefined ? '' : codeOf(inner))
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message.split('\n')[0]!.replace(/\.$/, '') : ''
}

/** What errors of the driver mean: done, not done, or unknown. */

import { errors, types } from 'cassandra-driver'
import { describe, expect, it } from 'vitest'

import { outcomeOf, refusal,
  swapOutcomeOf } from '../../../../../src/store/cassandra/driver/driver-error.ts'

const { responseErrorCodes: codes } = types

const response = (code: number, said = 'said') => new errors.ResponseError(code, said)
const closedSocket = (notWritten = false) =>
  Object.assign(new Error('Socket was closed'), { isSocketError: true,
    ...notWritten && { requestNotWritten: true } })
const noHost = (...inner: unknown[]) =>
  new errors.NoHostAvailableError(Object.fromEntries(inner.map((each, at) => [`h${at}`, each])))
const busy = new errors.BusyConnectionError('h', 2_048, 1)
const timedOut = new errors.OperationTimedOutError('late', 'h')

describe('an error of the driver', () => {
  it.each([
    ['too few replicas', response(codes.unavailableException)],
    ['an overloaded host', response(codes.overloaded)],
    ['a host that starts', response(codes.isBootstrapping)],
    ['a host that cannot read permissions',
      response(codes.unauthorized,
        'Unable to perform authorization of permissions: Cannot achieve consistency level ONE')],
    ['a busy connection', busy],
    ['a socket closed before sending', closedSocket(true)],
    ['hosts that are down', noHost('Host considered as DOWN', null, busy, closedSocket(true))],
    ['no host at all', noHost()],
  ])('means not done: %s', (_, error) => {
    expect(outcomeOf(error)).toBe('not_done')
  })

  it.each([
    ['a write that timed out', response(codes.writeTimeout)],
    ['a write that failed somewhere', response(codes.writeFailure)],
    ['an error of the server', response(codes.serverError)],
    ['no answer in time', timedOut],
    ['a socket closed after sending', closedSocket()],
    ['one of many hosts that was sent to', noHost('Host considered as DOWN', closedSocket())],
    ['an unknown error', new Error('who knows')],
  ])('means an unknown outcome: %s', (_, error) => {
    expect(outcomeOf(error)).toBe('unknown')
    expect(swapOutcomeOf(error)).toBe('unknown')
  })

  it.each([
    ['bad syntax', response(codes.syntaxError)],
    ['an unknown table', response(codes.invalid)],
    ['a missing permission', response(codes.unauthorized)],
    ['a value that cannot be sent', new TypeError('Not a valid blob')],
  ])('means refused for good: %s', (_, error) => {
    expect(outcomeOf(error)).toBe('refused')
    expect(swapOutcomeOf(error)).toBe('refused')
  })

  it('leaves a compare-and-set unknown if too few replicas may have met a later round', () => {
    expect(swapOutcomeOf(response(codes.unavailableException))).toBe('unknown')
    expect(swapOutcomeOf(noHost('Host considered as DOWN'))).toBe('not_done')
    expect(swapOutcomeOf(closedSocket(true))).toBe('not_done')
  })

  it('names a missing permission, and no other detail', () => {
    const said = new errors.ResponseError(codes.unauthorized, 'User x has no MODIFY permission')
    expect(refusal(said).message).toContain('User x has no MODIFY permission')
    expect(refusal(response(codes.syntaxError)).message).not.toContain('said')
  })
})

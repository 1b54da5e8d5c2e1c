/** Which failures of a host are retried on another one. */

import { errors, policies, types } from 'cassandra-driver'
import { describe, expect, it } from 'vitest'

import { RetryNextHost } from '../../../../../src/store/cassandra/driver/retry-next-host.ts'

// The driver has it here, but not in its types.
const { retry, rethrow } =
  (policies.retry.RetryPolicy as unknown as { retryDecision: { retry: number; rethrow: number } })
    .retryDecision
const quorum = types.consistencies.localQuorum
const policy = new RetryNextHost()
const operation = (idempotent: boolean, nbRetry: number) => ({
  executionOptions: { isIdempotent: () => idempotent },
  nbRetry,
})
const refusal = new errors.ResponseError(types.responseErrorCodes.overloaded, 'busy')
const silence = new errors.OperationTimedOutError('late', 'h')

describe('a read that a host', () => {
  it('cannot answer is retried on each other host', () => {
    for (const nbRetry of [0, 1]) {
      const asked = operation(true, nbRetry)
      for (const decision of [policy.onUnavailable(asked, quorum),
        policy.onReadTimeout(asked, quorum), policy.onRequestError(asked, quorum, refusal)]) {
        expect(decision).toMatchObject({ decision: retry, consistency: quorum,
          useCurrentHost: false })
      }
    }
    expect(policy.onUnavailable(operation(true, 2), quorum).decision).toBe(rethrow)
  })

  it('does not answer is not retried: the next host has already been asked', () => {
    expect(policy.onRequestError(operation(true, 0), quorum, silence).decision).toBe(rethrow)
  })
})

describe('a write that a host', () => {
  it('refuses is not retried', () => {
    const asked = operation(false, 0)
    expect(policy.onUnavailable(asked, quorum).decision).toBe(rethrow)
    expect(policy.onRequestError(asked, quorum, refusal).decision).toBe(rethrow)
    expect(policy.onWriteTimeout().decision).toBe(rethrow)
  })
})

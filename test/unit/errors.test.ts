/** The errors of the cluster among those of the server: what they become, and what they keep. */

import { expect, it } from 'vitest'

import { ClusterError, clusterErrors, hasCode } from '../../cluster/errors.ts'
import type { ClusterErrorCode } from '../../cluster/errors.ts'
import { HeddleError } from '../../src/errors.ts'

it('has every error of the cluster in its catalogue, with the same status and retry', () => {
  for (const code of Object.keys(clusterErrors) as ClusterErrorCode[]) {
    const thrown = new ClusterError(code)
    const { grpcStatus, retry, message, httpStatus } = HeddleError.from(thrown)
    expect({ grpcStatus, retry, message }).toEqual({ grpcStatus: thrown.grpcStatus,
      retry: thrown.retry, message: thrown.message })
    expect(httpStatus).toBeGreaterThanOrEqual(400)
  }
})

it('keeps what an error of the cluster knows, and where it was thrown', () => {
  const cause = new Error('no quorum')
  const thrown = new ClusterError('internal', 'Unknown.', { ambiguous: true }, { cause })
  const { outcome, message, stack, cause: kept } = HeddleError.from(thrown)
  expect({ outcome, message, stack, kept }).toEqual({ outcome: 'maybe_done', message: 'Unknown.',
    stack: thrown.stack, kept: cause })
})

it('knows the errors of the cluster by their codes, whoever made them', () => {
  expect(hasCode(new HeddleError('not_owner'), 'not_owner')).toBe(true)
  expect(hasCode(new Error('not_owner'), 'not_owner')).toBe(false)
})

it('revives what another member threw, and takes an unknown code for a bug', () => {
  expect(HeddleError.revive('busy', 'Wait.', { at: 3 })).toMatchObject(
    { code: 'busy', message: 'Wait.', details: { at: 3 }, httpStatus: 409 },
  )
  expect(HeddleError.revive('adjourned', 'Later.', {})).toMatchObject({ code: 'internal' })
})

/** Which failures of a run are tried again, and when. */

import { expect, it } from 'vitest'

import { HeddleError } from '../../../../src/errors.ts'
import { afterFailure,
  remainingWaitMs } from '../../../../src/platform/evaluate/experiments/retry.ts'

const model = (answeredStatus: number, retryAfterSeconds?: number) =>
  new HeddleError('model_failed', 'No.', { answeredStatus,
    ...retryAfterSeconds !== undefined && { retryAfterSeconds } })

it('Limits are waited for as long as they say, however often', () => {
  expect(afterFailure(model(429, 7), 50)).toEqual({ kind: 'wait', ms: 7_000 })
  for (const code of ['limited', 'full', 'over_quota'] as const) {
    expect(afterFailure(new HeddleError(code, 'No.', { retryAfterSeconds: 3 }), 9))
      .toEqual({ kind: 'wait', ms: 3_000 })
    expect(afterFailure(new HeddleError(code), 1)).toEqual({ kind: 'wait', ms: 1_000 })
  }
})

it('What may pass is tried three times, what never does once', () => {
  expect(afterFailure(model(503, 1), 1)).toEqual({ kind: 'again', ms: 1_000 })
  expect(afterFailure(model(503, 1), 2)).toEqual({ kind: 'again', ms: 2_000 })
  expect(afterFailure(model(503, 900), 1)).toEqual({ kind: 'again', ms: 30_000 })
  expect(afterFailure(model(503, 1), 3)).toEqual({ kind: 'failed' })
  expect(afterFailure(model(400), 1)).toEqual({ kind: 'failed' })
  expect(afterFailure(new HeddleError('graph_failed'), 1)).toEqual({ kind: 'failed' })
})

it('A failure of this server is none of the run', () => {
  for (const code of ['unavailable', 'not_owner', 'stale_append'] as const) {
    expect(afterFailure(new HeddleError(code), 9)).toEqual({ kind: 'own' })
  }
})

it('A wait that was noted under a clock that was ahead is over', () => {
  const hourMs = 3_600_000
  expect(remainingWaitMs(null, 5)).toBe(0)
  expect(remainingWaitMs(3 * hourMs, hourMs)).toBe(2 * hourMs)
  expect(remainingWaitMs(hourMs, 3 * hourMs)).toBe(0)
  expect(remainingWaitMs(500 * 24 * hourMs, hourMs)).toBe(0)
})

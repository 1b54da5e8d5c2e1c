/** Recorded calls in words, and their sums by host. */

import { expect, it } from 'vitest'

import { endWords, pathOf, sumsOf } from '../../../src/studio/thread/runs/call-words.ts'
import type { RunCall } from '../../../src/studio/api/platform/run-calls.ts'

const call = (changes: Partial<RunCall> = {}): RunCall => ({ no: 0, site: null, ordinal: 0,
  attempt: 1, client: 'fetch', method: 'POST', url: 'https://a.test/v1?x=1',
  started_at: '2026-11-29T00:00:00Z', head_ms: 1, ms: 10, status: 200, end: 'done', failure: null,
  request_bytes: 5, answer_bytes: 7, is_cut: false, ...changes })

it('Hosts are summed, and a call after a failed one counts as made again.', () => {
  const busy = () => call({ status: 503 })
  const sums = sumsOf([busy(), busy(), call(), call(), call({ url: 'http://b.test:81/', ms: 90 }),
    call({ url: 'http://b.test:81/', status: null, end: 'refused' })])
  expect(sums).toEqual([
    { host: 'b.test:81', calls: 2, sentBytes: 10, gotBytes: 14, ms: 100, retries: 0 },
    { host: 'a.test', calls: 4, sentBytes: 20, gotBytes: 28, ms: 40, retries: 2 },
  ])
})

it.each(
  [[{}, '200'], [{ end: 'reset' }, '200, cut off'], [{ status: null, end: 'refused' },
    'no connection']] as const,
)('%o is said as %s.', (of, words) => {
  expect(endWords(call(of))).toBe(words)
})

it('A path has its query.', () => {
  expect(pathOf(call().url)).toBe('/v1?x=1')
})

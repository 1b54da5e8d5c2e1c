/** What becomes of a deletion, as transcripts. */

import { expect, it } from 'vitest'

import { nextProgress,
  unbegun } from '../../../../../src/platform/query/deletions/trace-deletion.ts'
import type { DeletionEvent,
  DeletionProgress } from '../../../../../src/platform/query/deletions/trace-deletion.ts'

const mark = { startUs: 5, id: 'a' }
const slice = (after: typeof mark | null): DeletionEvent => ({ kind: 'slice', looked: 10,
  matched: 4, traces: 3, after })

function after(...events: readonly DeletionEvent[]): DeletionProgress {
  return events.reduce((state, event, at) => nextProgress(state, event, at + 1), unbegun)
}

it('Counts what goes, and is completed by the last slice', () => {
  expect(after(slice(mark))).toEqual({ status: 'Running', version: 2, after: mark, looked: 10,
    matched: 4, traces: 3, error: null, finishedMs: null })
  expect(after(slice(mark), slice(null))).toEqual({ status: 'Completed', version: 3, after: mark,
    looked: 20, matched: 8, traces: 6, error: null, finishedMs: 2 })
})

it('Says what went wrong until it goes on, and ends with what would go wrong again', () => {
  const away: DeletionEvent = { kind: 'failure', message: 'Away.', isFinal: false }
  expect(after(slice(mark), away)).toMatchObject({ status: 'Running', error: 'Away.', traces: 3 })
  expect(after(away, slice(mark))).toMatchObject({ status: 'Running', error: null })
  expect(after({ ...away, isFinal: true })).toMatchObject({ status: 'Failed', error: 'Away.',
    finishedMs: 1 })
})

it('Nothing follows an end', () => {
  for (const end of [slice(null), { kind: 'cancel' }] as const) {
    const ended = after(end)
    for (const event of [slice(mark), slice(null), { kind: 'cancel' }] as const) {
      expect(nextProgress(ended, event, 9)).toBe(ended)
    }
  }
  expect(after(slice(mark), { kind: 'cancel' })).toMatchObject({ status: 'Cancelled', traces: 3,
    finishedMs: 2 })
})

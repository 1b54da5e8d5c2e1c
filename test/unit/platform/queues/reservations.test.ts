/** Reservations of items in annotation queues, and the clock by which they expire. */

import { expect, it } from 'vitest'

import { holdersOf } from '../../../../src/platform/records/queues/queue-item.ts'
import type { QueueItem } from '../../../../src/platform/records/queues/queue-item.ts'

const nowMs = Date.UTC(2026, 10, 30)
const rules = { reviewers: 1, reservedMs: 60_000 }

function viewedAt(atMs: number): QueueItem {
  return { id: 'item', subject: { type: 'RUN', project: 'p', run: 'r', trace: 'r' }, addedMs: nowMs,
    startUs: null, source: null, reviewedMs: null,
    statuses: new Map([['reviewer', { status: 'viewed', atMs }]]) }
}

it('a reservation holds an item for its time', () => {
  expect(holdersOf(viewedAt(nowMs - 60_000), rules, nowMs)).toEqual(['reviewer'])
  expect(holdersOf(viewedAt(nowMs - 60_001), rules, nowMs)).toEqual([])
  expect(holdersOf(viewedAt(nowMs), { ...rules, reservedMs: 0 }, nowMs)).toEqual([])
})

it('a reservation that was made under a clock that was ahead holds nothing', () => {
  expect(holdersOf(viewedAt(nowMs + 500 * 86_400_000), rules, nowMs)).toEqual([])
})

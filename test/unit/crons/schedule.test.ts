/** Due times: in zones, over hour changes, the latest of many, and schedules that are refused. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { dueTimesMs, latestDueMs, nextDueMs, scheduleFault } from '../../../src/crons/schedule.ts'
import { expectAlways } from '../../support/expect-always.ts'

const at = (text: string) => Date.parse(text)
const dues = (schedule: string, timezone: string, from: string, count: number) => {
  const found: string[] = []
  for (let ms = at(from); found.length < count;) {
    ms = nextDueMs({ schedule, timezone }, ms)
    found.push(new Date(ms).toISOString().slice(0, 16))
  }
  return found
}

describe('a due time', () => {
  it('is in the zone of the schedule, and in UTC without one', () => {
    expect(dues('0 9 * * *', '', '2026-06-01T00:00Z', 1)).toEqual(['2026-06-01T09:00'])
    expect(dues('0 9 * * *', 'Asia/Tokyo', '2026-06-01T00:00Z', 1)).toEqual(['2026-06-02T00:00'])
  })

  it('that an hour change leaves out comes when the clock has gone on', () => {
    expect(dues('30 2 * * *', 'Europe/Paris', '2026-03-28T00:00Z', 3))
      .toEqual(['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30'])
  })

  it('that an hour change brings twice comes once', () => {
    expect(dues('30 2 * * *', 'Europe/Paris', '2026-10-24T12:00Z', 2))
      .toEqual(['2026-10-25T00:30', '2026-10-26T01:30'])
  })

  it('of an interval comes throughout an hour change', () => {
    expect(dues('*/30 * * * *', 'Europe/Paris', '2026-10-25T00:00Z', 4)).toEqual([
      '2026-10-25T00:30',
      '2026-10-25T01:00',
      '2026-10-25T01:30',
      '2026-10-25T02:00',
    ])
  })
})

const field = (low: number, high: number) =>
  fc.oneof(
    { weight: 2, arbitrary: fc.constant('*') },
    fc.integer({ min: low, max: high }).map(String),
    fc.integer({ min: 2, max: 6 }).map((step) => `*/${step}`),
  )
const schedules = fc.record({
  schedule: fc.tuple(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6))
    .map((fields) => fields.join(' ')),
  timezone: fc.constantFrom('', 'Europe/Paris', 'America/Sao_Paulo', 'Australia/Lord_Howe'),
})

it('The latest due time is the last of all that lie between', () => {
  const begin = at('2026-03-20T00:00Z')
  expectAlways(
    fc.property(schedules, fc.integer({ min: 0, max: 40 * 24 * 60 }), (schedule, minutes) => {
      const first = nextDueMs(schedule, begin)
      const through = begin + minutes * 60_000
      if (first === 0 || first > through) return
      let last = first
      for (let steps = 0; steps < 200; steps++) {
        const next = nextDueMs(schedule, last)
        if (next === 0 || next > through) {
          expect(latestDueMs(schedule, first, through)).toBe(last)
          return
        }
        last = next
      }
      const latest = latestDueMs(schedule, first, through)
      expect(nextDueMs(schedule, latest - 1)).toBe(latest)
      expect(latest).toBeLessThanOrEqual(through)
      expect(nextDueMs(schedule, latest)).toBeGreaterThan(through)
    }),
  )
})

it('A year of missed minutes is found at once', () => {
  const begin = at('2026-01-01T00:00Z')
  const end = at('2027-01-01T00:00:59Z')
  expect(latestDueMs({ schedule: '* * * * *', timezone: '' }, begin, end))
    .toBe(at('2027-01-01T00:00Z'))
})

it.each([
  ['* * * * *', '', undefined],
  ['  0 0 1 1 * ', 'UTC', undefined],
  ['* * * *', '', 'schedule'],
  ['* * * * * *', '', 'schedule'],
  ['@hourly', '', 'schedule'],
  ['a b c d e', '', 'schedule'],
  ['0 0 31 4 *', '', 'schedule'],
  ['* * * * *', 'Nowhere/Here', 'timezone'],
])('the schedule %j in the zone %j: the fault is of %s', (schedule, timezone, fault) => {
  expect(scheduleFault({ schedule, timezone }, at('2026-01-01'))?.field).toBe(fault)
})

it.each([
  ['0 7 * * 1-5', 'Europe/Paris', 0, ['2026-01-02T06:00Z', '2026-01-05T06:00Z',
    '2026-01-06T06:00Z']],
  ['0 7 * * 1-5', '', at('2026-01-05T07:00Z'), ['2026-01-02T07:00Z', '2026-01-05T07:00Z']],
  ['0 0 1 1 *', '', at('2026-06-01'), []],
])('the next times of %j in %j until %d', (schedule, timezone, through, times) => {
  expect(dueTimesMs({ schedule, timezone }, at('2026-01-01T12:00Z'), 3, through))
    .toEqual(times.map(at))
})

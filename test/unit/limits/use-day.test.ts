/** The day over which a daily limit counts. */

import { expect, it } from 'vitest'

import { nextUseDay } from '../../../src/limits/index.ts'

const nowMs = Date.UTC(2026, 10, 30, 12)

it('a new day starts at zero, and a repeated day keeps its counts', () => {
  expect(nextUseDay('', nowMs)).toEqual({ day: '2026-11-30', isNew: true })
  expect(nextUseDay('2026-11-29', nowMs)).toEqual({ day: '2026-11-30', isNew: true })
  expect(nextUseDay('2026-11-30', nowMs)).toEqual({ day: '2026-11-30', isNew: false })
})

it('the next day of another member stays, and keeps its counts', () => {
  expect(nextUseDay('2026-12-01', nowMs)).toEqual({ day: '2026-12-01', isNew: false })
})

it('counts of a day far ahead count today', () => {
  expect(nextUseDay('2028-01-01', nowMs)).toEqual({ day: '2026-11-30', isNew: false })
})

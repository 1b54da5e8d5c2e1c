/** Crons in the Studio: a schedule in words, what the editor sends, and times with their zone. */

import { expect, it } from 'vitest'

import { changeOf, creationOf, draftOf, emptyDraft } from '../../../src/studio/crons/cron-draft.ts'
import { scheduleWords } from '../../../src/studio/crons/schedule-words.ts'
import { exactWords, momentWords, until } from '../../../src/studio/parts/times/moment.ts'

it.each([
  ['* * * * *', 'Every minute'],
  ['*/15 * * * *', 'Every 15 minutes'],
  ['0 * * * *', 'Every hour'],
  ['5 * * * *', 'Every hour at 5 past'],
  ['30 */6 * * *', 'Every 6 hours at 30 past'],
  ['0 7 * * *', 'Every day at 07:00'],
  [' 0  7 * * 1-5 ', 'Monday to Friday at 07:00'],
  ['0 7,19 * * mon,WED', 'Monday and Wednesday at 07:00 and 19:00'],
  ['0 0 1 1 *', 'The 1st of January at 00:00'],
  ['0 0 1,15 * *', 'The 1st and 15th of the month at 00:00'],
  ['0 0 22-23 * *', 'The 22nd to 23rd of the month at 00:00'],
  ['0 0 13 * 5', 'The 13th of the month or Friday at 00:00'],
  ['0 9 * 6-8 7', 'Sunday in June to August at 09:00'],
  ['0 9 * 12 *', 'Every day in December at 09:00'],
  ['*/10 9-17 * * 1-5', 'Every 10 minutes from 09:00 to 17:59, Monday to Friday'],
  ['30 9-17 * * *', 'Every hour from 09:30 to 17:30'],
  ['0 0 L * *', undefined],
  ['0 0 * * 5#2', undefined],
  ['1-30 2,3 * * *', undefined],
  ['*/0 * * * *', undefined],
  ['0 0 * 13 *', undefined],
  ['5-1 * * * *', undefined],
  ['0 7 * *', undefined],
  ['<b>0 0 * * *', undefined],
])('the schedule %j is %j', (schedule, words) => {
  expect(scheduleWords(schedule)).toBe(words)
})

const cron = {
  cron_id: 'c',
  assistant_id: 'a',
  thread_id: null,
  on_run_completed: 'keep',
  end_time: null,
  schedule: '0 7 * * *',
  timezone: 'Europe/Paris',
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  payload: { input: { n: 1 } },
  user_id: null,
  next_run_date: null,
  metadata: {},
  enabled: true,
} as const

it('an editor sends what a cron needs, and of a change only what differs', () => {
  const draft = { ...emptyDraft('UTC'), assistant: 'a', input: '{"n":1}' }
  expect(creationOf(draft)).toEqual({ assistant_id: 'a', schedule: '0 7 * * 1-5', timezone: null,
    input: { n: 1 }, on_run_completed: 'keep' })
  expect(creationOf({ ...draft, thread: 't', input: ' ', timezone: 'Asia/Tokyo' })).toEqual({
    assistant_id: 'a',
    schedule: '0 7 * * 1-5',
    timezone: 'Asia/Tokyo',
  })
  expect(() => creationOf({ ...draft, input: '{' })).toThrow(/^The input is no JSON/)
  expect(() => creationOf({ ...draft, assistant: '' })).toThrow('Choose an assistant.')
  const before = draftOf(cron)
  expect(changeOf(before, cron)).toEqual({})
  expect(changeOf({ ...before, timezone: '', input: '', ends: '2030-01-01T00:00' }, cron))
    .toEqual({ timezone: null, input: null, end_time: new Date('2030-01-01T00:00').toISOString() })
  const ending = { ...cron, end_time: '2030-01-01T12:30:00.000Z' }
  expect(changeOf(draftOf(ending), ending)).toEqual({})
  expect(changeOf({ ...draftOf(ending), ends: '' }, ending)).toEqual({ end_time: null })
})

it('times have their zone, in words and in tooltips', () => {
  const ms = Date.UTC(2026, 10, 29, 2, 40, 52)
  expect(momentWords(ms, { zone: 'UTC' })).toBe('29 Nov 2026, 02:40 UTC')
  expect(momentWords(ms, { zone: 'Europe/Paris' })).toBe('29 Nov 2026, 03:40 CET')
  expect(momentWords(ms, { zone: 'Mars/Olympus', seconds: true }))
    .toBe('29 Nov 2026, 02:40:52 UTC')
  expect(exactWords(ms)).toMatch(/\S+ \(2026-11-29T02:40:52\.000Z\)$/)
  expect([momentWords(NaN), exactWords(NaN)]).toEqual(['–', '–'])
  expect([-5, 20, 90, 7_200, 86_400, 200_000].map((s) => until(ms + s * 1_000, ms)))
    .toEqual(['now', 'in 20 s', 'in 2 min', 'in 2 h', 'in 1 day', 'in 2 days'])
})

/** What gauges are drawn from, and which keys are shown. */

import { describe, expect, it } from 'vitest'

import type { ApiKey } from '../../../src/studio/api/keys.ts'
import type { LimitRow, Limits } from '../../../src/studio/api/limits.ts'
import { endText, keysFor, keyState } from '../../../src/studio/limits/key-list.ts'
import { byUse, linePoints, nearnessOf, windowText, withHeaders,
  withSamples } from '../../../src/studio/limits/limit-use.ts'
import type { UseHistory } from '../../../src/studio/limits/limit-use.ts'

const row = (id: string, remaining: number, refused = 0): LimitRow => ({ id, words: id,
  category: '', pattern: '', limit: 10, window_s: 10, remaining, reset_s: 0, refused })

describe('limits', () => {
  it('are those in use, and the others', () => {
    const { used, others } = byUse([row('a', 10), row('b', 9), row('c', 10, 1)])
    expect([used.map(({ id }) => id), others.map(({ id }) => id)]).toEqual([['b', 'c'], ['a']])
  })

  it('take over what the headers of an answer say', () => {
    const limits: Limits = { rows: [row('a', 10), row('b', 9)], quotas: [], enabled: true }
    const policy = '"b";q=10;w=10'
    expect(withHeaders(limits, { limit: '"b";r=3', policy }).rows.map((each) => each.remaining))
      .toEqual([10, 3])
    expect(withHeaders(limits, { limit: '"b";r=0;t=4', policy }).rows[1]?.remaining).toBe(0)
    for (const limit of ['"b";r=9', '"unknown";r=1', 'nonsense']) {
      expect(withHeaders(limits, { limit, policy })).toBe(limits)
    }
  })

  it('are remembered for a minute', () => {
    let history: UseHistory = new Map()
    for (let atMs = 0; atMs <= 120_000; atMs += 2_000) {
      history = withSamples(history, [row('a', 5)], atMs)
    }
    const samples = history.get('a')!
    expect([samples.length, samples[0]?.atMs, samples.at(-1)])
      .toEqual([31, 60_000, { atMs: 120_000, used: 5 }])
    expect(withSamples(history, [row('b', 5)], 121_000).has('a')).toBe(false)
  })

  it('are drawn with the newest use at the right', () => {
    const plane = { width: 100, height: 10, most: 10 }
    expect(
      linePoints([{ atMs: 0, used: 0 }, { atMs: 30_000, used: 5 }, { atMs: 60_000, used: 20 }],
        plane),
    ).toBe('0.0,10.0 50.0,5.0 100.0,0.0')
    expect(linePoints([], plane)).toBe('')
  })

  it('are near or full in words', () => {
    expect([0, 8, 9, 10, 11].map((used) => nearnessOf(used, 10)))
      .toEqual(['calm', 'calm', 'near', 'full', 'full'])
    expect([10, 60, 600, 3_600, 90].map(windowText)).toEqual(['10 s', '1 min', '10 min', '1 h',
      '90 s'])
  })
})

describe('keys', () => {
  const nowMs = Date.UTC(2026, 0, 1)
  const inDays = (days: number) => new Date(nowMs + days * 86_400_000).toISOString()
  const key = (id: string, expires: string | null = null,
    revoked: string | null = null): ApiKey => ({ id, name: `Name ${id}`, role: 'reader',
      tenant: 't', deployment: null, created_at: inDays(-9), last_used_at: null,
      expires_at: expires, revoked_at: revoked })
  const keys = [key('a1'), key('b2', inDays(3)), key('c3', inDays(-1)), key('d4', null, inDays(-1)),
    key('e5', inDays(30))]

  it('have a state', () => {
    expect(keys.map((each) => keyState(each, nowMs)))
      .toEqual(['valid', 'ending', 'expired', 'revoked', 'valid'])
  })

  it('are found by name and by the begin of their id', () => {
    const found = (find: string, ended = false) =>
      keysFor(keys, { find, ended, nowMs }).map(({ id }) => id)
    expect(found('')).toEqual(['a1', 'b2', 'e5'])
    expect(found('', true)).toHaveLength(5)
    expect([found(' B2'), found('name a'), found('1'), found('nothing')])
      .toEqual([['b2'], ['a1'], ['a1'], []])
  })

  it('say when they end', () => {
    expect([0.5, 1.5, 59, 90, -2].map((days) => endText(inDays(days), nowMs)))
      .toEqual(['within a day', 'in 1 day', 'in 59 days', '2026-04-01', '2025-12-30'])
  })
})

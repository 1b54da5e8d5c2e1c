/** The decisions of a rule: cursor, log, spending and alerts, on random histories. */

import { expect, it } from 'vitest'
import fc from 'fast-check'

import { keyAt } from '../../../../src/platform/ingest/ended/ended-span.ts'
import { decideRule, isAhead, logLines, rollOverDay, waitingBackfillsMax,
  unbegun } from '../../../../src/platform/evaluate/rules/rule-state.ts'
import type { LogEntry, RuleCommand, RuleState,
  SpanOutcome } from '../../../../src/platform/evaluate/rules/rule-state.ts'
import { expectAlways } from '../../../support/expect-always.ts'

const nowMs = Date.UTC(2026, 10, 27, 12)
const line = (outcome: LogEntry['outcome'], message = 'x'): LogEntry => ({ outcome, message })
const outcome = fc.record({
  line: fc.constantFrom('done', 'failed', 'skipped').map((each) => line(each as 'done')),
  tokens: fc.nat(100),
})
const limit = { calls_per_day: 25, tokens_per_day: 1_000 }
const command = fc.oneof<fc.Arbitrary<RuleCommand>[]>(
  fc.constant({ kind: 'begin' }),
  fc.record({ kind: fc.constant('trigger'), fromUs: fc.nat(), throughUs: fc.nat() }),
  fc.record({ kind: fc.constant('charge'), calls: fc.nat(20), limit: fc.constant(limit) }),
  fc.record({ kind: fc.constant('settle'), looked: fc.nat(100),
    outcomes: fc.array(outcome, { maxLength: 100 }),
    at: fc.nat(1_000_000).map((us) =>
      ({ source: 'ended', cursor: keyAt(nowMs * 1_000 + us) }) as const
    ) }),
  fc.record({ kind: fc.constant('measure'), alert: fc.constantFrom('a', 'b'),
    crossed: fc.boolean() }),
  fc.record({ kind: fc.constant('deliver'), alert: fc.constantFrom('a', 'b'),
    line: fc.constant(line('alert')) }),
)

it('keeps its promises on every history', () => {
  expectAlways(fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
    let state: RuleState = unbegun
    let [granted, delivered, risen] = [0, 0, 0]
    const lines = new Set<number>()
    for (const each of commands) {
      const before = state
      const decision = decideRule(state, each, nowMs)
      state = decision.state
      expect(state.version).toBe(before.version + 1)
      if (each.kind !== 'begin') expect(state.cursor >= before.cursor).toBe(true)
      granted += decision.granted
      for (const effect of decision.effects) {
        if (effect.kind !== 'log') continue
        for (const { no } of effect.entries) {
          expect(lines.has(no)).toBe(false)
          lines.add(no)
        }
        for (let no = effect.forget[0]; no < effect.forget[1]; no++) lines.delete(no)
        if (each.kind === 'deliver') delivered++
      }
      for (const name of Object.keys(state.firing)) if (!(name in before.firing)) risen++
    }
    // Calls are charged before they are made, within the limit of the day.
    expect(granted).toBeLessThanOrEqual(limit.calls_per_day)
    expect(state.calls).toBe(granted)
    expect(lines.size).toBe(Math.min(logLines, state.logged))
    expect(delivered).toBeLessThanOrEqual(risen)
  }), { share: 5 })
})

it('is the same when a decision is made again from the same state', () => {
  const outcomes: SpanOutcome[] = [{ line: line('done'), tokens: 1 }]
  const settle: RuleCommand = { kind: 'settle', looked: 1, outcomes,
    at: { source: 'ended', cursor: keyAt(1) } }
  expect(decideRule(unbegun, settle, nowMs)).toEqual(decideRule(unbegun, settle, nowMs))
})

it('spends again on the next day', () => {
  const charge: RuleCommand = { kind: 'charge', calls: 30, limit }
  const first = decideRule(unbegun, charge, nowMs)
  expect(first.granted).toBe(25)
  expect(decideRule(first.state, charge, nowMs).granted).toBe(0)
  const nextDay = rollOverDay(first.state, nowMs + 12 * 3_600_000)
  expect(decideRule(nextDay, charge, nowMs + 12 * 3_600_000).granted).toBe(25)
})

it('keeps the use of a day that was counted under a clock that was ahead', () => {
  const charge: RuleCommand = { kind: 'charge', calls: 30, limit }
  const ahead = decideRule(rollOverDay(unbegun, nowMs + 500 * 24 * 3_600_000), charge, nowMs)
  const today = rollOverDay(ahead.state, nowMs)
  expect(decideRule(today, charge, nowMs).granted).toBe(0)
  expect(decideRule(rollOverDay(today, nowMs + 24 * 3_600_000), charge, nowMs).granted).toBe(25)
})

const trigger = (state: RuleState, fromUs: number, throughUs: number) =>
  decideRule(state, { kind: 'trigger', fromUs, throughUs }, 1).state
const lastPage = (state: RuleState, askedMs = state.second!.askedMs) =>
  decideRule(state, { kind: 'settle', looked: 1, outcomes: [],
    at: { source: 'second', cursor: null, askedMs } }, 4).state

it('goes over each window that is triggered while a backfill is in progress', () => {
  let state = trigger(trigger(trigger(unbegun, 1, 2), 5, 6), 9, 10)
  const windows: unknown[] = []
  while (state.second !== null) {
    windows.push([state.second.fromUs, state.second.throughUs])
    state = lastPage(state)
  }
  expect(windows).toEqual([[1, 2], [5, 6], [9, 10]])
})

it('rejects a trigger when too many backfills wait, unless a waiting one covers it', () => {
  let state = trigger(unbegun, 0, 1)
  for (let no = 1; no <= waitingBackfillsMax; no++) state = trigger(state, 10 * no, 10 * no + 5)
  expect(trigger(state, 11, 12).waiting).toHaveLength(waitingBackfillsMax)
  expect(() => trigger(state, 1, 2)).toThrow('waiting')
})

it('ignores pages of a second cursor that was replaced', () => {
  const again = trigger({ ...unbegun,
    second: { fromUs: 1, throughUs: 2, cursor: null, looked: 0, applied: 0, askedMs: 2 } }, 5, 6)
  const late = lastPage(again, 1)
  expect(late.second).toEqual(again.second)
  const done = lastPage({ ...late, waiting: [] }, 2)
  expect(done).toMatchObject({ second: null, filledMs: 4 })
})

it('drops hours that nobody reads any more', () => {
  const hour = 3_600e6
  const cursor = (hours: number) =>
    ({ kind: 'settle', looked: 0, outcomes: [],
      at: { source: 'ended', cursor: keyAt(hours * hour) } }) as const
  const at = decideRule(unbegun, cursor(1_000), nowMs).state
  expect(decideRule(at, cursor(1_001), nowMs).effects)
    .toEqual([{ kind: 'drop_hours', from: 1_000 - 168, before: 1_001 - 168 }])
  expect(decideRule(at, cursor(1_000.5), nowMs).effects).toEqual([])
})

it('reads ends again from a while ago if the clock was ahead, and misses none that come', () => {
  const begun = decideRule(unbegun, { kind: 'begin' }, nowMs + 48 * 3_600_000).state
  expect([isAhead(begun, nowMs), isAhead(begun, nowMs + 48 * 3_600_000)]).toEqual([true, false])
  const { state } = decideRule(begun, { kind: 'go_back' }, nowMs)
  expect(isAhead(state, nowMs)).toBe(false)
  // It is looked at each minute, so that all that ended since the clock is right comes after it.
  expect(state.cursor < keyAt((nowMs - 60_000) * 1_000)).toBe(true)
})

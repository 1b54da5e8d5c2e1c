/** Which answers fit the interrupts that wait, and when an input is an answer. */

import { describe, expect, it } from 'vitest'

import type { RecordOf } from '../../../../src/checkpoint/index.ts'
import { asAnswer, refusalOf } from '../../../../src/thread/decide/strict-resume.ts'
import type { ThreadState } from '../../../../src/thread/model/thread-state.ts'
import { aRun } from '../../../support/thread-house.ts'
import { nowMs, queued, running, thread } from './transcript.ts'

const [one, two, gone] = ['a', 'b', 'c'].map((letter) => letter.repeat(32)) as [string, string,
  string]

describe('a strict answer', () => {
  it.each([
    ['one value, and nothing waits', 'yes', []],
    ['one value, and one waits', 'yes', [one]],
    ['an object that is no map', { colour: 'red' }, [one]],
    ['a map of some that wait', { [one]: 'yes' }, [one, two]],
  ])('is taken if it is %s', (_, resume, ids) => {
    expect(refusalOf(resume, ids.map((id) => ({ id })))).toBeUndefined()
  })

  it.each([
    ['one value, and two wait', 'yes', [two, one], 'ambiguous', []],
    ['an object that is no map, and two wait', { colour: 1 }, [two, one], 'ambiguous', []],
    ['an empty map', {}, [one], 'empty_map', []],
    ['a map with one that does not wait', { [one]: 1, [gone]: 2 }, [two, one], 'not_pending', [
      gone,
    ]],
    ['a map, and nothing waits', { [two]: 1, [one]: 2 }, [], 'not_pending', [one, two]],
  ])('is refused if it is %s', (_, resume, ids, reason, unknown) => {
    expect(refusalOf(resume, ids.map((id) => ({ id })))).toMatchObject({
      error: 'UnknownInterruptError',
      reason,
      interrupt_ids: unknown,
      pending_ids: ids.toSorted(),
    })
  })

  it('counts interrupts of engines that give them no id', () => {
    expect(refusalOf('yes', [{}, {}])).toMatchObject({ reason: 'ambiguous', pending_ids: [] })
  })
})

/** A thread that waits at an interrupt, with more runs. */
function asking(...more: readonly RecordOf[]): ThreadState {
  const state = thread(...more)
  const interruptsJson = JSON.stringify({ task: [{ id: one, value: '?' }] })
  return { ...state, row: { ...state.row, resting: 'interrupted', interruptsJson } }
}

describe('an input that answers if the thread waits', () => {
  const said = aRun('new', { answersIfWaiting: true, kwargs: { input: { a: 1 }, config: {} } })
  const isAnswer = (state: ThreadState) => asAnswer(said, state, nowMs) !== said

  it('becomes the answer', () => {
    const { kwargs, answersIfWaiting } = asAnswer(said, asking(), nowMs)
    expect(kwargs).toEqual({ input: null, command: { resume: { a: 1 } }, config: {} })
    expect(answersIfWaiting).toBeUndefined()
  })

  it('stays an input on a thread that does not wait, or that has a run before it', () => {
    expect(isAnswer(thread())).toBe(false)
    expect(isAnswer(asking(...running('old')))).toBe(false)
    expect(isAnswer(asking(...queued('next')))).toBe(false)
    expect(isAnswer(asking(...queued('late', { afterMs: nowMs + 1 })))).toBe(true)
  })

  it('stays null if it is null', () => {
    const nothing = aRun('new', { answersIfWaiting: true, kwargs: { input: null } })
    expect(asAnswer(nothing, asking(), nowMs)).toBe(nothing)
  })
})

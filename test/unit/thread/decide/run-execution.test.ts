/** What executions report, and what their runs come to. */

import { describe, expect, it } from 'vitest'

import type { ExecutionOutcome, LossReason } from '../../../../src/graph/execution.ts'
import { decideEnded, decideLost, decideOver, decideRecovery,
  decideRest } from '../../../../src/thread/decide/run-execution.ts'
import type { Found } from '../../../../src/thread/decide/run-execution.ts'
import { outOfTime } from '../../../../src/thread/decide/run-result.ts'
import { decideNext, decideTrial } from '../../../../src/thread/decide/start-next.ts'
import { startedRecord } from '../../../../src/thread/model/run-records.ts'
import { aRun } from '../../../support/thread-house.ts'
import { checkpoint, executing, hiddenThread, nowMs, queued, running, situation, thread,
  transcript } from './transcript.ts'

const outcome = (status: ExecutionOutcome['status'],
  more: Partial<ExecutionOutcome> = {}): ExecutionOutcome => ({ status, waiting: false,
    interrupts: '{}', error: null, ...more })

const both = thread(...running('r'), ...queued('next'))
const alone = thread(...running('r'))
const idle = ['stopTimer', 'holdInputs characters=0']
const nextStarts = ['stopTimer', 'holdInputs characters=12', 'publish next metadata',
  'execute next']
const failed = { error: { error: 'Broken', message: 'It broke.' } }

/** A run that owners died under. */
const suspect = (ownerDeaths: number) =>
  thread(...running('r'), startedRecord(
    { runId: 'r', attempt: 1, baseCheckpointId: '', ownerDeaths, suspect: true } as never,
    0,
  ))

describe('an execution that ends', () => {
  it('ends its run, and the next one starts in the same row', () => {
    expect(transcript(decideEnded(executing(both, 'r'), outcome('success'), nowMs))).toEqual([
      'write runEnded r success',
      'write runStarted next 1',
      'now',
      'close',
      'endRun r',
      'forgetExecution',
      ...nextStarts,
    ])
  })

  it('tells followers of a failure before the end', () => {
    expect(transcript(decideEnded(executing(alone, 'r'), outcome('error', failed), nowMs)))
      .toEqual(['write runEnded r error', 'now', 'close', 'logFailure r Broken', 'publish r error',
        'endRun r', 'forgetExecution', ...idle])
  })

  it('owes a webhook, and forgets the states of a stateless run', () => {
    const plan = { ...aRun('r').plan, webhook: 'https://a.example', temporary: true }
    const state = hiddenThread(...running('r', { plan }))
    expect(transcript(decideEnded(executing(state, 'r'), outcome('success'), nowMs))).toEqual([
      'write runEnded r success',
      'now',
      'close',
      'endRun r',
      'forgetExecution',
      'oweWebhook',
      'forgetStatesSoon',
      ...idle,
    ])
  })

  it('hands its run back if it was drained, and says nothing if it was aborted', () => {
    expect(transcript(decideEnded(executing(both, 'r'), outcome('drained'), nowMs))).toEqual([
      'write runEnded r pending 1',
      'now',
      'close',
    ])
    expect(transcript(decideEnded(executing(both, 'r'), outcome('aborted'), nowMs))).toEqual([])
    expect(transcript(decideEnded(situation(both), outcome('success'), nowMs))).toEqual([])
  })

  it('ends by its time limit', () => {
    expect(transcript(decideOver(executing(alone, 'r'), outOfTime, nowMs))).toEqual([
      'write runEnded r timeout',
      'now',
      'abort',
      'logFailure r RunTimeout',
      'publish r error',
      'endRun r',
      'forgetExecution',
      ...idle,
    ])
  })
})

describe('an execution whose worker is lost', () => {
  const lost = (at: Parameters<typeof decideLost>[0], reason: LossReason) =>
    transcript(decideLost(at, reason, nowMs))

  it('moves as the next attempt, three times at most', () => {
    expect(lost(executing(alone, 'r'), 'crashed')).toEqual(['write runStarted r 2', 'now', 'close',
      'publish r metadata', 'execute r resumes'])
    const third = thread(...running('r', {}, 3))
    expect(lost(executing(third, 'r'), 'crashed')).toEqual(['write runEnded r error', 'now',
      'close', 'logFailure r WorkerCrashed', 'publish r error', 'endRun r', 'forgetExecution',
      ...idle])
  })

  it('keeps its attempt if it is displaced, and starts nowhere if the thread moves away', () => {
    expect(lost(executing(alone, 'r'), 'displaced')).toEqual(['write runEnded r pending 1',
      'write runStarted r 1', 'now', 'close', 'publish r metadata', 'execute r resumes'])
    const moving = executing(alone, 'r', { isResting: true })
    expect(lost(moving, 'displaced')).toEqual(['write runEnded r pending 1', 'now', 'close'])
    expect(lost(moving, 'crashed')).toEqual(['close'])
  })

  it('ends its run if it filled its memory', () => {
    expect(lost(executing(alone, 'r'), 'full').slice(0, 4)).toEqual(['write runEnded r error',
      'now', 'close', 'logFailure r OutOfMemory'])
  })

  it('sends a suspect back to the quarantine, with the deaths as attempts', () => {
    const at = executing(suspect(1), 'r', { suspect: { runId: 'r', isOn: true } })
    expect(lost(at, 'crashed')).toEqual(['write runEnded r pending 3', 'now', 'close',
      'leaveQuarantine', 'stopTimer', 'holdInputs characters=12', 'enterQuarantine r'])
    const guilty = executing(suspect(2), 'r', { suspect: { runId: 'r', isOn: true } })
    expect(lost(guilty, 'crashed').slice(0, 4)).toEqual(['write runEnded r error', 'now', 'close',
      'leaveQuarantine'])
  })
})

describe('a thread that is loaded', () => {
  const found: Found = { storeFailed: false, isInherited: false, isMarked: () => false }
  const loaded = (state: typeof both, more: Partial<Found> = {}) =>
    transcript(decideRecovery(situation(state), { ...found, ...more }, nowMs))

  it('starts what waits', () => {
    expect(loaded(thread(...queued('r')))).toEqual(['write runStarted r 1', 'now',
      'resumeFeed r seq=7', 'holdInputs characters=12', 'stopTimer', 'holdInputs characters=12',
      'publish r metadata', 'execute r woken'])
  })

  it('counts an attempt, but none for the death of an owner', () => {
    const resumed = ['now', 'resumeFeed r seq=7', 'holdInputs characters=12', 'publish r metadata',
      'execute r resumes woken']
    expect(loaded(alone)).toEqual(['write runStarted r 2', ...resumed])
    expect(loaded(alone, { isInherited: true })).toEqual(['write runStarted r 1', ...resumed])
  })

  it('suspects a run that its owner died with, and ends one that did it again and again', () => {
    expect(loaded(alone, { isInherited: true, isMarked: () => true })).toEqual([
      'write runEnded r pending 1',
      'now',
      'resumeFeed r seq=7',
      'holdInputs characters=12',
      'stopTimer',
      'holdInputs characters=12',
      'enterQuarantine r',
    ])
    expect(loaded(suspect(2), { isInherited: true }).slice(0, 2)).toEqual([
      'write runEnded r error',
      'now',
    ])
  })

  it('waits if only the store had failed', () => {
    expect(loaded(both, { storeFailed: true })).toEqual(['resumeFeed r seq=7',
      'resumeFeed next seq=7', 'holdInputs characters=24', 'wakeIn ms=2000'])
  })
})

describe('a thread that moves away', () => {
  const resting = { isResting: true }

  it('pauses an execution, and hands back what has not begun', () => {
    const quiet = ['stopTimer', 'holdInputs characters=12']
    expect(transcript(decideRest(executing(alone, 'r', resting), false, nowMs))).toEqual([
      ...quiet,
      'pause',
    ])
    const waits = situation(alone, resting)
    expect(transcript(decideRest(waits, true, nowMs))).toEqual(['write runEnded r pending 1', 'now',
      ...quiet])
    expect(transcript(decideRest(waits, false, nowMs))).toEqual(quiet)
  })
})

describe('the queue', () => {
  it('starts a suspect when its turn in the quarantine has come', () => {
    const state = thread(...running('r'), { $case: 'runEnded',
      value: { runId: 'r', atMs: 0, status: 'pending', errorJson: '', interruptsJson: '',
        waiting: false, finalCheckpointId: '', owesWebhook: false, attempt: 1, ownerDeaths: 1,
        suspect: true } })
    const next = (isOn: boolean) =>
      transcript(decideNext(situation(state, { suspect: { runId: 'r', isOn } }), nowMs))
    expect(next(false)).toEqual(['stopTimer', 'holdInputs characters=12'])
    expect(next(true)).toEqual(['write runStarted r 1', 'now', 'stopTimer',
      'holdInputs characters=12', 'publish r metadata', 'execute r resumes'])
  })

  it('ends the trial of a suspect that has finished a superstep', () => {
    const place = { suspect: { runId: 'r', isOn: true } }
    expect(transcript(decideTrial(executing(suspect(1), 'r', place), nowMs))).toEqual([])
    const cleared = thread(...running('r'), checkpoint('k', 'r'))
    expect(transcript(decideTrial(executing(cleared, 'r', place), nowMs))).toEqual([
      'leaveQuarantine',
    ])
  })
})

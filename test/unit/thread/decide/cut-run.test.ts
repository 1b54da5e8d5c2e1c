/** What a cancel, a rollback and the delete of a run come to. */

import { describe, expect, it } from 'vitest'

import { decideCancel, decideDeleteRun } from '../../../../src/thread/decide/cut-run.ts'
import { handedBack } from '../../../../src/thread/model/run-records.ts'
import { checkpoint, executing, nowMs, queued, running, situation, thread,
  transcript } from './transcript.ts'

const note = [{ $case: 'commandApplied', value: { commandId: 'c' } }] as const
const state = thread(...running('r'), checkpoint('k', 'r'), ...queued('next'))
const [first, second] = state.runs as [typeof state.runs[number], typeof state.runs[number]]
const nextStarts = ['stopTimer', 'holdInputs characters=12', 'publish next metadata',
  'execute next']

describe('a cancelled run', () => {
  it('ends with the note of its command, and the next one starts', () => {
    const cut = { runs: [first], action: 'interrupt', note } as const
    expect(transcript(decideCancel(executing(state, 'r'), cut, nowMs))).toEqual([
      'write commandApplied c',
      'write runEnded r interrupted',
      'write runStarted next 1',
      'now',
      'abort',
      'endRun r',
      'forgetExecution',
      ...nextStarts,
      'reply done',
    ])
  })

  it('leaves no trace if it is rolled back', () => {
    const rollback = { head: undefined, places: [{ id: 'k', seq: 0, base: 7 }] }
    const cut = { runs: [first], action: 'rollback', rollback, note } as const
    expect(transcript(decideCancel(executing(state, 'r'), cut, nowMs))).toEqual([
      'write commandApplied c',
      'write headMoved',
      'write runStarted next 1',
      'place k → 0',
      'now',
      'abort',
      'forgetExecution',
      'publish r error',
      'endRolledBack r seq=7',
      ...nextStarts,
      'reply done',
    ])
  })

  it('leaves the execution of another run alone', () => {
    const cut = { runs: [second], action: 'rollback', note } as const
    expect(transcript(decideCancel(executing(state, 'r'), cut, nowMs))).toEqual([
      'write commandApplied c',
      'write runDeleted next',
      'now',
      'publish next error',
      'endRolledBack next seq=7',
      'stopTimer',
      'holdInputs characters=12',
      'reply done',
    ])
  })
})

describe('a deleted run', () => {
  const deleting = (at: Parameters<typeof decideDeleteRun>[0]) =>
    transcript(
      decideDeleteRun(at, { run: { runId: 'r', commandId: '', createdAtMs: 0 }, note }, nowMs),
    )

  it('is interrupted first', () => {
    expect(deleting(executing(state, 'r'))).toEqual(['write runEnded r interrupted',
      'write runDeleted r', 'write commandApplied c', 'write runStarted next 1', 'now', 'abort',
      'endRun r', 'forgetExecution', 'forgetFeed r', ...nextStarts, 'reply done'])
  })

  it('is only removed if it had ended', () => {
    expect(deleting(situation(thread()))).toEqual(['write runDeleted r', 'write commandApplied c',
      'now', 'forgetFeed r', 'stopTimer', 'holdInputs characters=0', 'reply done'])
  })
})

describe('an edit that adds messages to a run', () => {
  const work = { kind: 'edit', owners: ['r', 'next'] } as const
  const editing = situation(state, { work })

  it('ends with its run, and the next run starts', () => {
    const cut = { runs: [first], action: 'interrupt' } as const
    expect(transcript(decideCancel(editing, cut, nowMs))).toEqual([
      'write runEnded r interrupted',
      'write runStarted next 1',
      'now',
      'abort',
      'endRun r',
      'forgetExecution',
      ...nextStarts,
      'reply done',
    ])
  })

  it('ends with a message that it adds, and its run continues without it', () => {
    const handed = situation(
      thread(...running('r'), checkpoint('k', 'r'), handedBack(first, 0), ...queued('next')),
      { work },
    )
    const cut = { runs: [second], action: 'rollback' } as const
    expect(transcript(decideCancel(handed, cut, nowMs))).toEqual([
      'write runDeleted next',
      'write runStarted r 1',
      'now',
      'abort',
      'publish next error',
      'endRolledBack next seq=7',
      'stopTimer',
      'holdInputs characters=12',
      'publish r metadata',
      'execute r resumes',
      'reply done',
    ])
  })

  it('goes on when another run is cut', () => {
    const more = situation(thread(...running('r'), ...queued('next'), ...queued('last')), { work })
    const cut = { runs: [more.state.runs[2]!], action: 'rollback' } as const
    expect(transcript(decideCancel(more, cut, nowMs))).not.toContain('abort')
  })
})

/** What the start of a run comes to, beside what runs already. */

import { describe, expect, it } from 'vitest'

import { admit } from '../../../../src/thread/decide/run-queue.ts'
import { decideStart } from '../../../../src/thread/decide/start-run.ts'
import type { AdmittedRun } from '../../../../src/thread/decide/start-run.ts'
import type { Situation } from '../../../../src/thread/decide/decision.ts'
import type { StartRun } from '../../../../src/thread/model/thread-client.ts'
import { defaultLimits } from '../../../../src/thread/context/thread-context.ts'
import { aRun } from '../../../support/thread-house.ts'
import { checkpoint, executing, missing, nowMs, queued, running, situation, thread,
  transcript } from './transcript.ts'

const note = [{ $case: 'commandApplied', value: { commandId: 'c' } }] as const

function starting(at: Situation, run: Partial<StartRun> = {}, more: Partial<AdmittedRun> = {}) {
  const asked = aRun('new', run)
  const admission = admit(at.state.runs, asked.strategy, defaultLimits)
  const admitted = { run: asked, admission, rollback: undefined, note, ...more }
  return transcript(decideStart(at, admitted, nowMs))
}

const begun = ['rememberKey new', 'beginFeed new', 'stopTimer', 'holdInputs characters=12']
const launched = ['publish new metadata', 'execute new']

describe('the start of a run', () => {
  it('makes a missing thread, and starts at once', () => {
    expect(starting(situation(missing))).toEqual(['write threadCreated', 'write threadPatched',
      'write runCreated new', 'write commandApplied c', 'write runStarted new 1', 'now', ...begun,
      ...launched, 'reply run'])
  })

  it('may wait for the end in the same row if nobody but its caller can know the run', () => {
    expect(starting(situation(missing), { awaited: true })).toEqual(['write threadCreated',
      'write threadPatched', 'write runCreated new', 'write commandApplied c',
      'write runStarted new 1', 'soon', ...begun, ...launched, 'refuseUnwritten new',
      'reply early'])
  })

  it('waits behind a run, during an edit, and while the thread moves away', () => {
    const waits = ['write threadPatched', 'write runCreated new', 'write commandApplied c', 'now']
    const busy = executing(thread(...running('old')), 'old')
    expect(starting(busy)).toEqual([...waits, ...begun.slice(0, 3), 'holdInputs characters=24',
      'reply run'])
    for (const held of [{ work: { kind: 'edit', owners: [] } as const }, { isResting: true }]) {
      expect(starting(situation(thread(), held))).toEqual([...waits, ...begun, 'reply run'])
    }
  })

  it('sets a timer if the run is delayed', () => {
    expect(starting(situation(thread()), { afterMs: 500 })).toEqual(['write threadPatched',
      'write runCreated new', 'write commandApplied c', 'now', ...begun, 'wakeAt atMs=1500',
      'reply run'])
  })

  it('interrupts the runs before it in the row that starts it', () => {
    const at = executing(thread(...running('old'), ...queued('next')), 'old')
    expect(starting(at, { strategy: 'interrupt', awaited: true })).toEqual([
      'write runEnded old interrupted',
      'write runEnded next interrupted',
      'write threadPatched',
      'write runCreated new',
      'write commandApplied c',
      'write runStarted new 1',
      'now',
      'abort',
      'endRun old',
      'forgetExecution',
      'endRun next',
      'forgetExecution',
      ...begun,
      ...launched,
      'refuseUnwritten new',
      'reply early',
    ])
  })

  it('rolls the run before it back, with the places of its checkpoints', () => {
    const at = executing(thread(...running('old'), checkpoint('k', 'old')), 'old')
    const rollback = { head: undefined, places: [{ id: 'k', seq: 0, base: 7 }] }
    expect(starting(at, { strategy: 'rollback' }, { rollback })).toEqual([
      'write headMoved',
      'write threadPatched',
      'write runCreated new',
      'write commandApplied c',
      'write runStarted new 1',
      'place k → 0',
      'now',
      'abort',
      'forgetExecution',
      'publish old error',
      'endRolledBack old seq=7',
      ...begun,
      ...launched,
      'reply run',
    ])
  })

  it('decides the same from the same, and changes nothing that it was given', () => {
    const at = executing(thread(...running('old')), 'old')
    const before = structuredClone(at)
    expect(starting(at, { strategy: 'interrupt' })).toEqual(starting(at, { strategy: 'interrupt' }))
    expect(at).toEqual(before)
  })
})

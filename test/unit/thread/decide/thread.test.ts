/** What commands to the thread itself, its webhooks and its expiry come to. */

import { describe, expect, it } from 'vitest'

import type { RecordOf } from '../../../../src/checkpoint/index.ts'
import { metadataKeysMax } from '../../../../src/json/index.ts'
import { decideAdopt, decideCreate, decideDelete, decideExpiry,
  decidePatch } from '../../../../src/thread/decide/thread.ts'
import { decideOwed, decideSettled } from '../../../../src/thread/decide/owed.ts'
import { originOf } from '../../../../src/thread/model/origin.ts'
import { aRun } from '../../../support/thread-house.ts'
import { executing, hiddenThread, missing, nowMs, queued, running, situation, thread,
  transcript } from './transcript.ts'

const note = [{ $case: 'commandApplied', value: { commandId: 'c' } }] as const
const goes = ['endAll seq=7', 'stopWebhooks', 'refuseEdits', 'forgetStates', 'reply purged']

/** A run has ended, and owes a webhook. */
const owing = (runId: string): RecordOf[] => [
  ...queued(runId, { plan: { ...aRun(runId).plan, webhook: 'https://a.example' } }),
  { $case: 'runEnded',
    value: { runId, atMs: 0, status: 'success', errorJson: '', interruptsJson: '', waiting: false,
      finalCheckpointId: '', owesWebhook: true, attempt: 0, ownerDeaths: 0, suspect: false } },
]

describe('a thread', () => {
  it('is created, patched and copied with the note of its command', () => {
    const metadata = { a: 1 }
    expect(transcript(decideCreate(situation(missing), { metadata, note }, nowMs))).toEqual([
      'write threadCreated',
      'write commandApplied c',
      'now',
      'reply thread',
    ])
    expect(transcript(decidePatch(situation(thread()), { metadata, note }, nowMs))).toEqual([
      'write threadPatched',
      'write commandApplied c',
      'now',
      'reply thread',
    ])
    const origin = originOf(thread(), 10)
    expect(transcript(decideAdopt(situation(missing), { origin, note }, nowMs))).toEqual([
      'write threadCreated idle',
      'write commandApplied c',
      'now',
      'reply thread',
    ])
  })

  it('takes only so many metadata', () => {
    const metadata = Object.fromEntries(
      Array.from({ length: metadataKeysMax + 1 }, (_, i) => [`k${i}`, i]),
    )
    expect(() => decidePatch(situation(thread()), { metadata, note }, nowMs)).toThrow('256 keys')
  })

  it('is deleted with everything on it', () => {
    const at = executing(thread(...running('r')), 'r', { suspect: { runId: 'r', isOn: true } })
    expect(transcript(decideDelete(at, { note }, nowMs))).toEqual(['write threadDeleted',
      'write commandApplied c', 'now', 'abort', 'stopTimer', 'leaveQuarantine', 'stopRetention',
      'holdInputs characters=0', ...goes])
  })

  it('is not deleted in the place of another life of it', () => {
    const other = () => decideDelete(situation(thread()), { branchId: 'other', note }, nowMs)
    expect(other).toThrow('Thread x not found.')
  })
})

describe('the thread of a stateless run', () => {
  const expiring = (state: typeof missing, isFollowed = false) =>
    transcript(decideExpiry(situation(state), isFollowed, nowMs))

  it('goes when its time is up, unless it is followed, runs, or owes a webhook', () => {
    expect(expiring(hiddenThread())).toEqual(['write threadDeleted', 'now', 'stopTimer',
      'stopRetention', 'holdInputs characters=0', ...goes])
    expect(expiring(hiddenThread(), true)).toEqual(['awaitWebhooks', 'retain'])
    expect(expiring(hiddenThread(...running('r')))).toEqual(['awaitWebhooks'])
    expect(expiring(hiddenThread(...owing('r')))).toEqual(['awaitWebhooks isDue'])
    for (const state of [missing, thread()]) expect(expiring(state)).toEqual(['awaitWebhooks'])
  })
})

describe('webhooks', () => {
  const state = thread(...owing('a'), ...owing('b'), ...owing('c'))

  it('are called, and the oldest given up if too many are owed', () => {
    expect(transcript(decideOwed(situation(state), 3, nowMs))).toEqual(['callWebhooks'])
    expect(transcript(decideOwed(situation(state), 1, nowMs))).toEqual([
      'write webhookSettled a false',
      'write webhookSettled b false',
      'now',
      'logGivenUp a too many of this thread wait',
      'logGivenUp b too many of this thread wait',
      'callWebhooks',
    ])
  })

  it('are settled once', () => {
    const settled = { runId: 'a', delivered: true, reason: '' }
    expect(transcript(decideSettled(situation(state), settled, nowMs))).toEqual([
      'write webhookSettled a true',
      'now',
    ])
    expect(transcript(decideSettled(situation(thread()), settled, nowMs))).toEqual([])
  })
})

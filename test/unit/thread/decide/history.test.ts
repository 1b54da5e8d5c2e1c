/** What dropping a history, patching a state and a time to live come to. */

import { describe, expect, it } from 'vitest'

import { decideCancel } from '../../../../src/thread/decide/cut-run.ts'
import { decideKeepLatest, decidePatchState } from '../../../../src/thread/decide/history.ts'
import { decideCreate, decidePatch } from '../../../../src/thread/decide/thread.ts'
import { apply } from '../../../../src/thread/model/thread-state.ts'
import type { ThreadState } from '../../../../src/thread/model/thread-state.ts'
import type { Decision } from '../../../../src/thread/decide/decision.ts'
import { checkpoint, missing, nowMs, position, queued, running, situation, thread,
  transcript } from './transcript.ts'

const note = [{ $case: 'commandApplied', value: { commandId: 'c' } }] as const
const minute = { strategy: 'keep_latest', minutes: 1 } as const

const after = (state: ThreadState, { records }: Decision) =>
  records.reduce((now, record) => apply(now, record, position), state)

describe('a history that is dropped', () => {
  it('begins at the head; its time to live and older patches are over', () => {
    const old = thread(checkpoint('a', ''))
    const patched = after(old,
      decidePatchState(situation(old), { metadata: { n: 1 }, note }, nowMs))
    const living = after(patched,
      decidePatch(situation(patched), { metadata: {}, timeToLive: minute, note }, nowMs))
    const state = apply(living, checkpoint('k', ''), position)
    const decision = decideKeepLatest(situation(state), { note }, nowMs)
    expect(transcript(decision)).toEqual(['write historyCut k', 'write commandApplied c', 'now',
      'forgetExecution', 'reply done'])
    const { row } = after(state, decision)
    expect([row.historyStart, row.timeToLive, row.checkpointPatches])
      .toEqual([{ checkpointId: 'k', seq: position.seq }, undefined, undefined])
  })

  it('of a thread without a state changes nothing but the time to live', () => {
    const state = thread()
    const { row } = after(state, decideKeepLatest(situation(state), { note }, nowMs))
    expect(row.historyStart).toBeUndefined()
  })

  it('keeps a time to live after which the thread is deleted', () => {
    const state = after(thread(),
      decidePatch(situation(thread()), { metadata: {},
        timeToLive: { strategy: 'delete', minutes: 1 }, note }, nowMs))
    const { row } = after(state, decideKeepLatest(situation(state), { note }, nowMs))
    expect(row.timeToLive).toEqual(state.row.timeToLive)
  })

  it('waits for the end of runs and edits', () => {
    const busy = situation(thread(...queued('r')))
    expect(() => decideKeepLatest(busy, { note }, nowMs)).toThrow('busy')
    const edited = situation(thread(), { work: { kind: 'edit', owners: [] } })
    expect(() => decideKeepLatest(edited, { note }, nowMs)).toThrow('busy')
  })
})

describe('a patch of a state', () => {
  it('is merged into those before it', () => {
    let state = thread(checkpoint('k', ''))
    for (const metadata of [{ a: 1, b: 1 }, { b: 2 }]) {
      const decision = decidePatchState(situation(state), { metadata, note }, nowMs)
      expect(transcript(decision)).toEqual(['write checkpointPatched k', 'write commandApplied c',
        'now', 'reply done'])
      state = after(state, decision)
    }
    expect(state.row.checkpointPatches)
      .toEqual({ patches: [{ checkpointId: 'k', metadataJson: '{"a":1,"b":2}' }] })
  })

  it('is bounded for all checkpoints of a thread together', () => {
    const metadata = { long: 'x'.repeat(40_000) }
    const state = thread(checkpoint('k', ''))
    const next = apply(after(state, decidePatchState(situation(state), { metadata, note }, nowMs)),
      checkpoint('l', ''), position)
    expect(() => decidePatchState(situation(next), { metadata, note }, nowMs)).toThrow('64 KB')
  })
})

describe('a time to live', () => {
  it('begins when it is asked for, and a patch without one leaves it', () => {
    const made = after(missing,
      decideCreate(situation(missing), { metadata: {}, timeToLive: minute, note }, nowMs))
    expect(made.row.timeToLive).toEqual({ ...minute, expiresAtMs: nowMs + 60_000 })
    const patched = after(made,
      decidePatch(situation(made), { metadata: { a: 1 }, note }, nowMs + 5))
    expect(patched.row.timeToLive).toEqual(made.row.timeToLive)
  })
})

describe('the reason of a cancelled run', () => {
  it('is in the record that ends it', () => {
    const state = thread(...running('r'))
    const cut = { runs: state.runs, action: 'interrupt', reason: 'taken: x', note } as const
    const { records } = decideCancel(situation(state), cut, nowMs)
    expect(records.find(({ $case }) => $case === 'runEnded')?.value)
      .toMatchObject({ cancelReason: 'taken: x' })
  })
})

/** What edits of the state come to, and what batches of an execution add to log and feed. */

import { describe, expect, it } from 'vitest'

import type { StepEvent } from '../../../../src/graph/execution.ts'
import { decideEdited, decideFirstState, decideUpdate, failedEdit,
  lostEdit } from '../../../../src/thread/decide/state-edit.ts'
import { decideSteps } from '../../../../src/thread/decide/steps.ts'
import { apply } from '../../../../src/thread/model/thread-state.ts'
import { checkpoint, missing, nowMs, running, situation, thread, transcript } from './transcript.ts'

const note = [{ $case: 'commandApplied', value: { commandId: 'c' } }] as const
const update = { update: { values: '{}', asNode: null, taskId: null, command: null },
  checkpoint: null } as never
const patched = { $case: 'threadPatched',
  value: { atMs: 0, configJson: '{}', metadataJson: '{"graph_id":"g"}' } } as const

describe('an edit of the state', () => {
  it('is refused on a busy thread, and on one without a graph', () => {
    expect(() => decideUpdate(situation(thread(...running('r'))), update, note)).toThrow('busy')
    expect(() => decideUpdate(situation(thread()), update, note)).toThrow('no graph yet')
    expect(decideUpdate(situation(thread(patched)), update, note)).toMatchObject({ graphId: 'g',
      before: [], note })
  })

  it('makes a thread with a first state, if its graph is known', () => {
    const request = { threadId: 'x', ifExists: 'raise', supersteps: [[]],
      metadata: { graph_id: 'g' } } as const
    const first = (hasGraph: boolean) =>
      decideFirstState(request, { note, hasGraph: () => hasGraph }, nowMs)
    expect(first(true).before.map(({ $case }) => $case)).toEqual(['threadCreated'])
    expect(() => first(false)).toThrow('name a graph')
  })

  it('is written in one row with its note', () => {
    const edit = { ...decideUpdate(situation(thread(patched)), update, note) }
    const steps = [checkpoint('k', '')] as never
    const outcome = { waiting: true, interrupts: '{}' }
    const decision = decideEdited(situation(thread(patched)), { edit, steps, outcome }, nowMs)
    expect(transcript(decision)).toEqual(['write checkpoint', 'write stateEdited',
      'write commandApplied c', 'now', 'forgetExecution', 'reply done'])
    expect(decision.records[1]).toMatchObject({ value: { waiting: true } })
    const created = { ...edit,
      before:
        decideFirstState({ threadId: 'x', ifExists: 'raise', supersteps: [],
          metadata: { graph_id: 'g' } }, { note, hasGraph: () => true }, 0).before }
    const made = decideEdited(situation(missing), { edit: created, steps, outcome }, nowMs)
    expect(made.records[2]).toMatchObject({ value: { waiting: false } })
  })

  it('creates a thread that waits at the interrupt of its supersteps, with its revision', () => {
    const { before } = decideFirstState({ threadId: 'x', ifExists: 'raise', supersteps: [],
      metadata: { graph_id: 'g' } }, { note, hasGraph: () => true }, 0)
    const edit = { ...decideUpdate(situation(thread(patched)), update, note), before }
    const outcome = { waiting: true, interrupts: '{"task":[{"value":"?"}]}', waitsAt: ['ask'] }
    const { records } = decideEdited(situation(missing), { edit, revision: 'r1', outcome,
      steps: [checkpoint('k', '')] as never }, nowMs)
    const { row } = records.reduce((state, record) => apply(state, record, { epoch: 1, seq: 7 }),
      missing)
    // The use of revisions is counted in threads with this status.
    expect(row).toMatchObject({ status: 'interrupted',
      waitingAt: { revision: 'r1', nodes: ['ask'] } })
  })

  it('fails with the error of its graph, or for another try', () => {
    expect(failedEdit({ error: { error: 'E', message: 'no' } })).toMatchObject({
      code: 'graph_failed',
      message: 'no',
    })
    expect(failedEdit({ error: null }).code).toBe('unavailable')
    expect([lostEdit('full').code, lostEdit('crashed').code]).toEqual(['graph_failed',
      'unavailable'])
  })
})

describe('a batch', () => {
  const event = (json: string, durable: boolean): StepEvent =>
    ({ name: 'custom', json, valuesOf: '', durable }) as StepEvent
  const place = { runId: 'r', seq: 7, last: { seq: 5, index: 3 } }

  it('without anything durable stands behind the last row', () => {
    const { records, entries, last } = decideSteps({ steps: [], events: [event('1', false)] },
      place, nowMs)
    expect([records, entries.map((entry) => entry.place), last]).toEqual([[], [{ seq: 5,
      index: 4 }], { seq: 5, index: 4 }])
  })

  it('with steps or durable events stands behind its own row', () => {
    const events = [event('1', false), event('2', true)]
    const { records, entries } = decideSteps({ steps: [], events }, place, nowMs)
    expect(records).toMatchObject([{ $case: 'emitted',
      value: { runId: 'r', events: [{ index: 2, json: '2' }] } }])
    expect(entries.map((entry) => entry.place)).toEqual([{ seq: 7, index: 1 }, { seq: 7,
      index: 2 }])
    const again = decideSteps({ steps: [], events }, { ...place, last: { seq: 7, index: 2 } }, 0)
    expect(again.last).toEqual({ seq: 7, index: 4 })
  })
})

/** What the fold of a thread's events knows of runs: of those that may still have events. */

import { expect, it } from 'vitest'

import type { RecordOf } from '../../../../src/checkpoint/index.ts'
import { ThreadEventFold } from '../../../../src/thread/model/thread-event-fold.ts'

const created = { $case: 'runCreated',
  value: { runId: 'r', kwargsJson: '{}', planJson: '{"graphId":"agent"}' } } as RecordOf
const started = { $case: 'runStarted', value: { runId: 'r', atMs: 1, attempt: 1 } } as RecordOf
const deleted = { $case: 'runDeleted', value: { runId: 'r', atMs: 1 } } as RecordOf

it('is its graph, until the run is deleted: then its input is not held any more', () => {
  const runningIn = (...records: RecordOf[]) =>
    new ThreadEventFold([], false).take(records, 1).map(({ json }) => json)
  expect(runningIn(created, started)).toEqual(['{"event":"running","graph_name":"agent"}'])
  expect(runningIn(created, deleted, started)).toEqual(['{"event":"running"}'])
})

it('puts a question into the namespace of the graph that asked; earlier records name none', () => {
  const asked = (askers: object) =>
    ({ $case: 'runEnded',
      value: { runId: 'r', atMs: 2, status: 'success', waiting: true, ...askers,
        interruptsJson: '{"t1":[{"id":"a","value":1}],"t2":[{"id":"b","value":2}]}' } }) as RecordOf
  const namesIn = (...records: RecordOf[]) =>
    new ThreadEventFold([], false).take([created, started, ...records], 1).map(({ name }) => name)
      .filter((name) => name.startsWith('input.requested'))
  expect(namesIn(asked({}))).toEqual(['input.requested|r|2|', 'input.requested|r|2|'])
  expect(namesIn(asked({ askers: { namespaces: { b: 'child:1|inner:2' } } })))
    .toEqual(['input.requested|r|2|', 'input.requested|r|2||child:1|inner:2'])
})

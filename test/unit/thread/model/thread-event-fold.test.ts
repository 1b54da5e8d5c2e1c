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

/** The rows of runs that lag behind the log when a thread is loaded. */

import { expect, it } from 'vitest'

import type { RunRow } from '../../../../proto/gen/storage/v1/row.ts'
import { encodeRow } from '../../../../src/checkpoint/index.ts'
import type { LogPort, RecordOf } from '../../../../src/checkpoint/index.ts'
import { storedThread } from '../../../../src/thread/log/stored-thread.ts'
import { apply, rowOf, unborn } from '../../../../src/thread/model/thread-state.ts'
import type { ThreadState } from '../../../../src/thread/model/thread-state.ts'

const branch = { id: 'b', ancestors: [] }
const created: RecordOf = { $case: 'threadCreated',
  value: { threadId: 'x', atMs: 1, hidden: false, metadataJson: '{}', copiedFrom: '',
    headCheckpointId: '', status: '', interruptsJson: '' } }
const runCreated = { $case: 'runCreated',
  value: { runId: 'r', atMs: 2, assistantId: 'a', multitaskStrategy: 'enqueue', metadataJson: '{}',
    kwargsJson: '{}', planJson: '{}', notBeforeMs: 0, commandId: '' } } as unknown as RecordOf
const patched: RecordOf = { $case: 'threadPatched',
  value: { atMs: 3, metadataJson: '{"a":1}', configJson: '{}' } }

/** Loads a thread with these rows in its log, the first of which its own row has. */
async function lagOf(shared: boolean, first: readonly RecordOf[],
  rest: readonly RecordOf[] = []): Promise<readonly RunRow[]> {
  const rows = [first, rest].filter((records) => records.length > 0)
  const entries = rows.map((records, i) => ({ epoch: 1, seq: i + 1, body: encodeRow(records) }))
  const state = first.reduce<ThreadState>(
    (before, record) => apply(before, record, { epoch: 1, seq: 1 }),
    unborn('t', 'x', branch),
  )
  const log = { shared, open: async () => {},
    read: async (_, { from, through }) =>
      entries.filter(({ seq }) => seq >= from && seq <= through) } as Partial<LogPort> as LogPort
  const found = await storedThread({
    ports: { log, threads: { get: async () => ({ ...rowOf(state, 0), epoch: 1, seq: 1 }) } },
    tenant: 't',
    threadId: 'x',
    epoch: 2,
  })
  return [...found!.lag.changed.values()]
}

it('The row of a run may lag that was created with the row of its thread.', async () => {
  expect(await lagOf(true, [created, runCreated])).toMatchObject([{ runId: 'r', createdSeq: 1 }])
  expect(await lagOf(true, [created], [runCreated])).toMatchObject([{ runId: 'r', createdSeq: 2 }])
  expect(await lagOf(true, [created], [patched])).toEqual([])
  // One transaction writes both.
  expect(await lagOf(false, [created, runCreated])).toEqual([])
})

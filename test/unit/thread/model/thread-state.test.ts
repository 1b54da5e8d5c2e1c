/** The state of a thread by its records: its head, its status, and what a copy takes over. */

import { describe, expect, it } from 'vitest'

import type { RecordOf } from '../../../../src/checkpoint/index.ts'
import { originOf } from '../../../../src/thread/model/origin.ts'
import { apply, fromOrigin, fromRow, rowOf,
  unborn } from '../../../../src/thread/model/thread-state.ts'
import type { ThreadState } from '../../../../src/thread/model/thread-state.ts'

type Checkpoint = Extract<RecordOf, { $case: 'checkpoint' }>['value']

const checkpoint = (id: string, change: Partial<Checkpoint> = {}): RecordOf => ({
  $case: 'checkpoint',
  value: { ns: '', id, parentId: '', full: true, changes: [], skeletonJson: '{}',
    metadataJson: '{}', runId: 'r', atMs: 0, ...change },
})
const created: RecordOf = { $case: 'threadCreated',
  value: { threadId: 'x', atMs: 0, hidden: false, metadataJson: '{}', copiedFrom: '',
    headCheckpointId: '', status: '', interruptsJson: '' } }
const queued: RecordOf = { $case: 'runCreated',
  value: { runId: 'r', atMs: 0, assistantId: 'a', commandId: '', multitaskStrategy: 'enqueue',
    metadataJson: '{}', kwargsJson: '{}', planJson: '{}', notBeforeMs: 0 } }
const started: RecordOf = { $case: 'runStarted',
  value: { runId: 'r', atMs: 0, attempt: 1, baseCheckpointId: 'c1', ownerDeaths: 0,
    suspect: false } }
const failed: RecordOf = { $case: 'runEnded',
  value: { runId: 'r', atMs: 0, status: 'error', errorJson: '{"error":"E"}', interruptsJson: '',
    waiting: false, finalCheckpointId: 'c1', owesWebhook: true, ownerDeaths: 0, suspect: false,
    attempt: 0 } }
const backTo = (seq: number): RecordOf => ({ $case: 'headMoved',
  value: { checkpointId: 'c1', seq, base: seq, droppedRunIds: ['r'], atMs: 0 } })

/** The state after these records, each in a row of its own. */
function after(...records: readonly RecordOf[]): ThreadState {
  const begun = unborn('t', 'x', { id: 'b', ancestors: [] })
  return records.reduce((state, record, i) => apply(state, record, { epoch: 3, seq: i + 1 }), begun)
}

const headOf = (
  { row: { head, movedBack, stepSeq } }: ThreadState,
) => [head?.id, head?.seq, movedBack, stepSeq]

describe('the head of a thread', () => {
  const begun = [created, checkpoint('c1'), queued, started, checkpoint('c2')]

  it('is its newest checkpoint that is not of a subgraph', () => {
    expect(headOf(after(...begun))).toEqual(['c2', 5, false, 5])
    expect(headOf(after(...begun, checkpoint('s1', { ns: 'sub' })))).toEqual(['c2', 5, false, 6])
  })

  it('moves back with a rollback, and is the newest again with the next checkpoint', () => {
    expect(headOf(after(...begun, backTo(2)))).toEqual(['c1', 2, true, 6])
    const next = checkpoint('c3', { parentId: 'c1', full: false })
    const { row } = after(...begun, backTo(2), next)
    expect(row).toMatchObject({ head: { id: 'c3', seq: 7, base: 2 }, movedBack: false })
  })

  it('builds on the head before it, unless it is complete in itself', () => {
    expect(() => after(...begun, checkpoint('c3', { parentId: 'c1', full: false }))).toThrow()
    expect(headOf(after(...begun, checkpoint('c3', { parentId: 'c1' })))[0]).toBe('c3')
  })
})

describe('a thread', () => {
  const broken = after(created, checkpoint('c1'), queued, started, failed)

  it('has an error until its state is edited, and owes no webhook once it is deleted', () => {
    expect(broken.row).toMatchObject({ status: 'error', errorJson: '{"error":"E"}',
      owedWebhooks: ['r'] })
    const edited: RecordOf = { $case: 'stateEdited',
      value: { atMs: 0, waiting: false, interruptsJson: '{}' } }
    expect(apply(broken, edited, { epoch: 3, seq: 6 }).row)
      .toMatchObject({ status: 'idle', errorJson: '' })
    const deleted: RecordOf = { $case: 'threadDeleted', value: { atMs: 0 } }
    expect(apply(broken, deleted, { epoch: 3, seq: 6 }).row.owedWebhooks).toEqual([])
  })

  it('gives a copy its state, its history so far, and a configuration that names the copy', () => {
    const patched: RecordOf = { $case: 'threadPatched',
      value: { atMs: 0, metadataJson: '{}',
        configJson: '{"configurable":{"thread_id":"x","a":1}}' } }
    const source = after(created, checkpoint('c1'), queued, started, checkpoint('c2'), backTo(2),
      patched)
    const { row } = fromOrigin({ tenant: 't', threadId: 'y', branchId: 'b2' }, originOf(source, 9))
    expect(row).toMatchObject({ threadId: 'y', seq: 7, stepSeq: 7, movedBack: true, storedBytes: 9,
      head: { id: 'c1', seq: 2 }, branch: { id: 'b2', ancestors: [{ id: 'b', through: 7 }] } })
    expect(JSON.parse(row.configJson)).toEqual({ configurable: { thread_id: 'y', a: 1 } })
  })
})

describe('a row of an older version whose run executes', () => {
  const asked: RecordOf = { $case: 'stateEdited',
    value: { atMs: 0, waiting: true, interruptsJson: '{"task":[{"id":"i"}]}' } }
  const waiting = after(created, checkpoint('c1'), asked)

  /** The row as the older version wrote it, after these records of an answer. */
  function read(...records: readonly RecordOf[]): ThreadState {
    const state = after(created, checkpoint('c1'), asked, queued, started, ...records)
    const { interruptsJson, resting } = waiting.row
    const row = { ...rowOf(state, 0), interruptsJson, resting, waits: undefined,
      restBefore: undefined }
    return fromRow(row, state.runs)
  }

  it('shows the interrupts as long as the head is where the run began', () => {
    expect(read().row).toMatchObject({ interruptsJson: '{"task":[{"id":"i"}]}', waits: true })
  })

  it('shows none at a later head, and a rollback restores them', () => {
    const later = read(checkpoint('c2'))
    expect(later.row).toMatchObject({ resting: 'idle', interruptsJson: '{}' })
    expect(apply(later, backTo(2), { epoch: 3, seq: 9 }).row).toMatchObject({
      status: 'interrupted',
      interruptsJson: '{"task":[{"id":"i"}]}',
      waits: true,
    })
  })
})

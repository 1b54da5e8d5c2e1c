/** Writes to Cassandra for a run: one to each table if one row of the log holds the run. */

import { beforeEach, describe, expect, it } from 'vitest'

import { ByteBudget } from '../../../../../cluster/index.ts'
import type { RecordOf } from '../../../../../src/checkpoint/index.ts'
import { ThreadLog } from '../../../../../src/thread/log/thread-log.ts'
import { CountedCassandra } from '../../../../support/counted-cassandra.ts'
import { checkpoint } from '../../../../simulation/list-actor.ts'

const created: RecordOf = { $case: 'threadCreated',
  value: { threadId: 'x', atMs: 0, hidden: false, metadataJson: '{}', copiedFrom: '',
    headCheckpointId: '', status: '', interruptsJson: '' } }

function begun(runId: string): RecordOf[] {
  return [
    { $case: 'runCreated',
      value: { runId, atMs: 1, assistantId: '', commandId: '', multitaskStrategy: 'enqueue',
        metadataJson: '{}', kwargsJson: '{}', planJson: '{}', notBeforeMs: 0 } },
    { $case: 'runStarted',
      value: { runId, atMs: 1, attempt: 1, baseCheckpointId: '', ownerDeaths: 0, suspect: false } },
  ]
}

function ended(runId: string): RecordOf {
  return { $case: 'runEnded',
    value: { runId, atMs: 2, status: 'success', errorJson: '', interruptsJson: '', waiting: false,
      finalCheckpointId: '', owesWebhook: false, ownerDeaths: 0, suspect: false, attempt: 1 } }
}

let cassandra: CountedCassandra
let thread: ThreadLog
beforeEach(async () => {
  cassandra = new CountedCassandra()
  const { log, threads, env } = await cassandra.member()
  thread = await ThreadLog.load({ ports: { log, threads, views: new ByteBudget<object>(1e6) },
    tenant: 't', threadId: 'x', epoch: 1, after: env.after, onLost: () => {} })
  cassandra.calls()
})

describe('the writes of a run', () => {
  it('are three if it is short, on a new thread and on an existing one', async () => {
    await thread.write([created, ...begun('a'), checkpoint('1', 1), ended('a')])
    expect(cassandra.calls()).toEqual({ 'write log': 1, 'write run': 1, 'write thread_row': 1 })
    await thread.write([...begun('b'), checkpoint('2', 2), ended('b')])
    expect(cassandra.calls()).toEqual({ 'write log': 1, 'write run': 1, 'write thread_row': 1 })
  })

  it('are eight if it has three supersteps that take long', async () => {
    await thread.write([created, ...begun('a'), checkpoint('1', 1)])
    await thread.write([checkpoint('2', 2)])
    await thread.write([checkpoint('3', 3)])
    await thread.write([checkpoint('4', 4), ended('a')])
    expect(cassandra.calls()).toEqual({ 'write log': 4, 'write run': 2, 'write thread_row': 2 })
  })
})

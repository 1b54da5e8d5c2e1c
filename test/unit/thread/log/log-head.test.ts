/** The head of a thread, from which an execution begins. */

import { describe, expect, it } from 'vitest'

import { ByteBudget } from '../../../../cluster/index.ts'
import type { RecordOf } from '../../../../src/checkpoint/index.ts'
import { ThreadLog } from '../../../../src/thread/log/thread-log.ts'
import { virtualEnv } from '../../../support/env.ts'
import { MemoryLog } from '../../../support/memory-log.ts'
import { memoryTables } from '../../../support/memory-tables.ts'

const checkpointOf = (id: string): RecordOf => ({ $case: 'checkpoint',
  value: { ns: '', id, parentId: '', full: true,
    changes: [{ channel: 'a', change: { $case: 'removed', value: true } }], skeletonJson: '{}',
    metadataJson: '{}', runId: '', atMs: 0 } })
const checkpoint = checkpointOf('c1')
const writes: RecordOf = { $case: 'writes',
  value: { ns: '', checkpointId: 'c1', taskId: 'task', writes: [] } }

const created: RecordOf = { $case: 'threadCreated',
  value: { threadId: 'x', atMs: 0, hidden: false, metadataJson: '{}', copiedFrom: '',
    headCheckpointId: '', status: '', interruptsJson: '' } }

async function openThreadLog(log = new MemoryLog(), views = new ByteBudget<ThreadLog>(1e6)) {
  const env = virtualEnv()
  return await ThreadLog.load({
    ports: { log, threads: memoryTables(log).threads, views },
    tenant: 't',
    threadId: 'x',
    epoch: 1,
    after: env.after,
    onLost: () => {},
  })
}

describe('the head of a thread', () => {
  it('is read with the writes that are still on their way to disk', async () => {
    const log = new MemoryLog()
    const threadLog = await openThreadLog(log)
    await threadLog.write([checkpoint])
    const gate = Promise.withResolvers<void>()
    log.gate = gate.promise
    void threadLog.write([writes])
    threadLog.release()
    const head = threadLog.loadHead()
    gate.resolve()
    expect(await head).toMatchObject({ id: 'c1', writes: [{ taskId: 'task' }] })
    expect(await threadLog.loadHead()).toBeUndefined()
  })

  it('is not remembered if it moved while it was read', async () => {
    const log = new MemoryLog()
    const threadLog = await openThreadLog(log)
    await threadLog.write([checkpoint])
    threadLog.release()
    const read = log.read.bind(log)
    const gate = Promise.withResolvers<void>()
    log.read = (...given) => gate.promise.then(() => read(...given))
    const head = threadLog.loadHead()
    await threadLog.write([checkpointOf('c2')])
    gate.resolve()
    expect(await head).toBeUndefined()
    expect(threadLog.recentView('c1')).toBeUndefined()
  })

  it('is remembered with the seven before it, until others need the memory', async () => {
    const views = new ByteBudget<ThreadLog>(10_000)
    const threadLog = await openThreadLog(undefined, views)
    const ids = Array.from({ length: 12 }, (_, n) => `c${n}`)
    for (const id of ids) await threadLog.write([checkpointOf(id)])
    const remembered = () => ids.filter((id) => threadLog.recentView(id) !== undefined)
    expect(remembered()).toEqual(ids.slice(4))
    views.hold({} as ThreadLog, 10_000, () => {})
    expect(remembered()).toEqual([])
  })

  it('is that of the new thread of its id, however late the old one reaches the disk', async () => {
    const log = new MemoryLog()
    const threadLog = await openThreadLog(log)
    const gate = Promise.withResolvers<void>()
    log.gate = gate.promise
    const before = threadLog.write([checkpoint])
    threadLog.renew(before)
    expect(await threadLog.settled.tuple('', null)).toBeUndefined()
    const now = threadLog.write([created])
    gate.resolve()
    await before
    expect(await threadLog.settled.tuple('', null)).toBeUndefined()
    expect(threadLog.isOnDisk()).toBe(false)
    await now
    expect(threadLog.isOnDisk()).toBe(true)
  })

  it('moves even if one step has very many records', async () => {
    const threadLog = await openThreadLog()
    await threadLog.write([checkpoint, ...Array.from({ length: 200_000 }, () => writes)])
    expect(threadLog.isOnDisk()).toBe(true)
    expect(await threadLog.recordsAt(threadLog.state.row.seq)).toHaveLength(200_002)
  })
})

/** Rows in Cassandra beside the log: large rows, rows after a restart, deleted rows. */

import { Client } from 'cassandra-driver'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { cassandraForTests } from '../support/cassandra.ts'
import { cassandraPlace } from './cassandra-place.ts'
import { anAssistant, aRow, aRun, aThread, copyOf } from './rows.ts'
import type { OpenStore } from './store-place.ts'

const cassandra = await cassandraForTests()

/** Columns of the keys of tables. */
const keys = { log: ['branch_id'], log_chunk: ['row_key'], run: ['thread_id'],
  thread_row: ['thread_id'], assistant_row: ['assistant_id'], branch: ['branch_id'],
  branch_need: ['ancestor', 'branch'] } as const

describe.skipIf(!cassandra)('rows in Cassandra', () => {
  let place: ReturnType<typeof cassandraPlace>
  let store: OpenStore
  let admin: Client

  beforeAll(async () => {
    place = cassandraPlace(cassandra!)
    store = await place.open()
    admin = new Client({ contactPoints: [...cassandra!.contactPoints],
      localDataCenter: cassandra!.dataCenter })
    await admin.connect()
  })
  afterAll(async () => {
    await admin.shutdown()
    await store.close()
    await place.remove()
  })

  /** How many rows a table has of these ids: others write to it at the same time. */
  const count = async (table: keyof typeof keys, ...ids: readonly string[]) => {
    const { rows } = await admin.execute(
      `SELECT ${keys[table].join(', ')} FROM ${place.keyspace}.${table}`,
      [],
      { fetchSize: 100_000 },
    )
    return rows.filter((row) => {
      const key = keys[table].map((name) => String(row[name])).join(' ')
      return ids.some((id) => key.includes(id))
    }).length
  }
  const large = (letter: string) => JSON.stringify(letter.repeat(1_300_000))

  it('are reported when the log is on disk, and again when they are too', async () => {
    const thread = aThread()
    const branchId = thread.branch!.id
    const cql = `SELECT seq FROM ${place.keyspace}.log WHERE branch_id = ? AND bucket = 0`
    const inLog = Promise.withResolvers<number>()
    const order: string[] = []
    await store.log.append([aRow({ branch: thread.branch!, seq: 1 })], [{ table: 'thread',
      row: thread }], () => {
      order.push('logged')
      admin.execute(cql, [branchId], { prepare: true })
        .then(({ rowLength }) => inLog.resolve(rowLength), inLog.reject)
    })
    order.push('on disk')
    expect(await inLog.promise).toBe(1)
    expect(order).toEqual(['logged', 'on disk'])
    await store.log.purge({ table: 'thread', tenant: 'local', id: thread.threadId,
      branch: thread.branch!, epoch: 1 })
  })

  it('are stored in parts if they are large, and the parts are deleted with them', async () => {
    const thread = aThread({ metadataJson: large('t') })
    const { threadId, branch } = thread
    const run = aRun({ threadId, kwargsJson: large('a') })
    const assistant = anAssistant({ configJson: large('c') })
    await store.log.append([aRow({ branch: branch!, seq: 1, body: new Uint8Array(700_000) })], [{
      table: 'run',
      row: run,
    }, { table: 'thread', row: thread }])
    await store.log.append([], [{ table: 'assistant', row: assistant }])
    const ids = [threadId, branch!.id, assistant.assistantId, assistant.branch!.id]
    const parts = await count('log_chunk', ...ids)
    expect(parts).toBe(2 + 3 * 3)
    const again = { ...run, status: 'success', kwargsJson: large('b') }
    await store.log.append([aRow({ branch: branch!, seq: 2 })], [{ table: 'run', row: again }])
    expect(await store.runs.get('local', threadId, run.runId)).toEqual(again)
    expect(await count('log_chunk', ...ids)).toBe(parts)

    await store.close()
    store = await place.open()
    expect(await store.threads.get('local', threadId)).toEqual(thread)
    expect(await store.assistants.get('local', assistant.assistantId)).toEqual(assistant)

    await store.log.purge({ table: 'thread', tenant: 'local', id: threadId, branch: branch!,
      epoch: 1 })
    await store.log.purge({ table: 'assistant', tenant: 'local', id: assistant.assistantId,
      branch: assistant.branch!, epoch: 1 })
    const left = await Promise.all(
      Object.keys(keys).map((table) => count(table as keyof typeof keys, ...ids)),
    )
    expect(left).toEqual(left.map(() => 0))
  })

  it('leave no parts behind if they became small before they were deleted', async () => {
    const thread = aThread({ metadataJson: large('t') })
    const { threadId, branch } = thread
    const put = (seq: number, metadataJson: string) =>
      store.log.append(
        [aRow({ branch: branch!, seq })],
        [{ table: 'thread', row: { ...thread, metadataJson, seq } }],
      )
    await put(1, large('t'))
    await put(2, '{}')
    await store.close()
    store = await place.open()
    expect(await store.threads.get('local', threadId)).toMatchObject({ metadataJson: '{}' })
    await put(3, large('u'))
    expect(await count('log_chunk', threadId)).toBe(3)
    await put(4, '{}')
    await store.log.purge({ table: 'thread', tenant: 'local', id: threadId, branch: branch!,
      epoch: 1 })
    expect(await count('log_chunk', threadId)).toBe(0)
  })

  it('of runs are found in pages, by any status', async () => {
    const { threadId, branch } = aThread()
    const runs = Array.from({ length: 150 },
      (_, index) =>
        aRun({ threadId, createdAtMs: index, status: index % 50 === 7 ? 'error' : 'success' }))
    await store.log.append([aRow({ branch: branch!, seq: 1 })],
      runs.map((row) => ({ table: 'run', row })))
    const list = async (query: object) =>
      (await store.runs.list({ tenant: 'local', threadId, limit: 10, offset: 0, ...query }))
        .map(({ createdAtMs }) => createdAtMs)
    expect(await list({ status: 'error' })).toEqual([107, 57, 7])
    expect(await list({ status: 'error', limit: 1, offset: 2 })).toEqual([7])
    expect(await list({ limit: 2, offset: 147 })).toEqual([2, 1])
    // As after the death of a member that had not yet written the row of a run.
    await admin.execute(`DELETE FROM ${place.keyspace}.run USING TIMESTAMP 9223372036854775807
      WHERE tenant = 'local' AND thread_id = '${threadId}' AND part = '' AND created_at = -1
      AND run_id = '${runs[149]!.runId}'`)
    expect(await list({ limit: 2 })).toEqual([148, 147])
  })

  it('of a branch say what copies need, as long as there are copies', async () => {
    const source = aThread().branch!
    for (const seq of [1, 2, 3]) await store.log.append([aRow({ branch: source, seq })], [])
    const copy = copyOf(source, 2)
    await Promise.all(
      [3, 4].map((seq) =>
        store.log.append([aRow({ branch: copy, seq, epoch: 1, prevEpoch: 1 })], [])
      ),
    )
    const ids = [source.id, copy.id]
    expect(await count('branch_need', ...ids)).toBe(1)
    const purge = (branch = source, epoch = 1) =>
      store.log.purge({ table: 'thread', tenant: 'local', id: branch.id, branch, epoch })
    await purge(source, 9)
    expect(await count('branch', ...ids)).toBe(1)
    await purge(copy)
    expect(await count('branch_need', ...ids)).toBe(0)
    // Nor does the mark stay that an owner of a higher epoch left.
    expect(await count('branch', ...ids)).toBe(0)
    expect(await store.log.tail(copy)).toBeUndefined()
    const late = copyOf(source, 1)
    await expect(store.log.append([aRow({ branch: late, seq: 2 })], [])).rejects
      .toMatchObject({ code: 'not_found' })
    expect(await count('branch_need', ...ids)).toBe(0)
  })

  it('of runs that a dead member left do not belong to a new thread with that id', async () => {
    const { threadId, branch } = aThread()
    const left = aRun({ threadId, createdAtMs: 9_000, status: 'running' })
    // As after the death of a member that had not yet written the row of the thread.
    await store.log.append([aRow({ branch: branch!, seq: 1 })], [{ table: 'run', row: left }])
    const thread = aThread({ threadId })
    const run = aRun({ threadId })
    await store.log.append([aRow({ branch: thread.branch!, seq: 1 })], [{ table: 'run', row: run },
      { table: 'thread', row: thread }])
    expect(await store.runs.get('local', threadId, left.runId)).toBeUndefined()
    const later = aRun({ threadId })
    await store.log.append([aRow({ branch: thread.branch!, seq: 2 })], [{ table: 'run',
      row: later }, { table: 'thread', row: { ...thread, seq: 2 } }])
    expect(await store.runs.list({ tenant: 'local', threadId, limit: 9, offset: 0 }))
      .toEqual([later, run])
  })

  it('of a run are deleted even while they are being written', async () => {
    const { threadId, branch } = aThread()
    const run = aRun({ threadId, kwargsJson: large('r') })
    await Promise.all([
      store.log.append([aRow({ branch: branch!, seq: 1 })], [{ table: 'run', row: run }]),
      store.log.append([aRow({ branch: branch!, seq: 2 })], [{ table: 'run_removed',
        tenant: 'local', threadId, runId: run.runId }]),
    ])
    expect(await store.runs.get('local', threadId, run.runId)).toBeUndefined()
    expect(await store.runs.list({ tenant: 'local', threadId, limit: 1, offset: 0 })).toEqual([])
    expect(await count('log_chunk', threadId)).toBe(0)
  })

  it('are removed in the order of the calls, even if no call waited', async () => {
    const thread = aThread()
    const branch = thread.branch!
    const run = aRun({ threadId: thread.threadId })
    const again = aThread({ threadId: thread.threadId, createdAtMs: 9_000 })
    await Promise.all([
      store.log.append([aRow({ branch, seq: 1 })], [{ table: 'run', row: run }, { table: 'thread',
        row: thread }]),
      store.log.append([aRow({ branch, seq: 2 })], [
        { table: 'run_removed', tenant: 'local', threadId: thread.threadId, runId: run.runId },
        { table: 'thread', row: { ...thread, seq: 2, status: 'error' } },
      ]),
      store.log.purge({ table: 'thread', tenant: 'local', id: thread.threadId, branch, epoch: 1 }),
      store.log.append([aRow({ branch: again.branch!, seq: 1 })], [{ table: 'thread',
        row: again }]),
    ])
    expect(await store.runs.get('local', thread.threadId, run.runId)).toBeUndefined()
    expect(await store.threads.get('local', thread.threadId)).toEqual(again)
    await store.close()
    store = await place.open()
    expect(await store.threads.get('local', thread.threadId)).toEqual(again)
  })
})

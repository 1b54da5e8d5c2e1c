/** Rows of operations that come after the removal of their trace. */

import { expect, it } from 'vitest'

import type { SpansOfRequest } from '../../../../../src/platform/index.ts'
import { CassandraSpans } from '../../../../../src/store/cassandra/platform/cassandra-spans.ts'
import { aPost, placeOf } from '../../../../contract/span-histories.ts'
import { MemoryCassandra } from '../../../../simulation/platform/memory-cassandra.ts'
import type { Connection } from '../../../../../src/store/cassandra/driver/connection.ts'
import { virtualEnv } from '../../../../support/env.ts'
import { during } from './during.ts'

const tenant = 'acme'
const [root, child] = [0, 1].map((span) => placeOf(tenant, { trace: 1, span, project: 0 }))

function writeOf(place: typeof root): SpansOfRequest {
  const { id: owner, trace, traceStartUs, project } = place!
  return { tenant, spans: [aPost(place!, { block: 7n })],
    blocks: [{ id: 7n, trace, traceStartUs, data: Buffer.from('late') }],
    files: [{ project, owner, ownerTrace: trace, name: 'f', type: 'text/plain',
      data: Buffer.from('late') }], timeToLiveS: new Map([[project, 86_400]]) }
}

const kinds = ['trace', 'project'] as const
const removalOf = (kind: typeof kinds[number]) =>
  kind === 'trace'
    ? { kind: 'traces', traces: [root!] } as const
    : { kind: 'project', project: root!.project } as const

/** Rows of each table that has something of a trace. */
function countRows(cassandra: MemoryCassandra): readonly number[] {
  return [['span_head', 'ops'], ['trace_block', 'data'], ['span_file', 'data'], ['span_location',
    'trace_id'], ['feedback', 'body'], ['span_head', 'feedback']].map(([table, column]) =>
      cassandra.count(table!, column!)
    )
}

it.each(kinds)('deletes rows of another member that has not noticed the removal of a %s',
  async (kind) => {
    const env = virtualEnv()
    const cassandra = new MemoryCassandra(env.nowMs)
    const [writer, remover] = [0, 1].map(() =>
      new CassandraSpans(cassandra.connect(), env, 'write')
    ) as [CassandraSpans, CassandraSpans]
    await writer.write(writeOf(root))
    const removing = remover.remove(tenant, removalOf(kind))
    await new Promise((turn) => setImmediate(turn))
    await writer.write(writeOf(child))
    await during(env, removing)
    expect(countRows(cassandra)).toEqual([0, 0, 0, 0, 0, 0])
    await writer.close()
    await remover.close()
  })

it.each(kinds)('deletes feedback that is written while its %s is removed', async (kind) => {
  const env = virtualEnv()
  const cassandra = new MemoryCassandra(env.nowMs)
  const connection = cassandra.connect()
  const remover = new CassandraSpans(cassandra.connect(), env, 'write')
  const racing = { ...connection, repeatableBatch: async (statements) => {
    if (statements[0]!.cql.includes('.feedback ')) {
      await during(env, remover.remove(tenant, removalOf(kind)))
    }
    await connection.repeatableBatch(statements)
  } } as Connection
  const writer = new CassandraSpans(racing, env, 'write')
  await writer.write(writeOf(root))
  const row = { tenant, id: child!.id, span: root!.id, trace: root!.trace, project: root!.project,
    key: 'good', score: 1, value: null, createdUs: 1, modifiedUs: 1, bodyJson: '{}' }
  expect(await writer.putFeedback([{ row, place: root! }])).toEqual([row.id])
  expect(countRows(cassandra)).toEqual([0, 0, 0, 0, 0, 0])
  await writer.close()
  await remover.close()
})

it.each(kinds)('deletes the rows of late operations of a removed %s', async (kind) => {
  const env = virtualEnv()
  const cassandra = new MemoryCassandra(env.nowMs)
  const store = new CassandraSpans(cassandra.connect(), env, 'write')
  await store.write(writeOf(root))
  expect(countRows(cassandra)).toEqual([1, 1, 1, 1, 0, 0])
  await during(env, store.remove(tenant, removalOf(kind)))
  env.advance(2_000)
  expect(await store.write(writeOf(root))).toMatchObject({ removed: [root!.id] })
  expect(await store.write(writeOf(child))).toMatchObject({ removed: [child!.id] })
  expect(countRows(cassandra)).toEqual([0, 0, 0, 0, 0, 0])
  await store.close()
})

it('keeps the rows of a trace of which only the older spans were removed', async () => {
  const env = virtualEnv()
  const cassandra = new MemoryCassandra(env.nowMs)
  const store = new CassandraSpans(cassandra.connect(), env, 'write')
  const later = placeOf(tenant, { trace: 1, span: 3, project: 0 })
  await store.write(writeOf(later))
  await during(env,
    store.remove(tenant, { kind: 'older', project: later.project, beforeUs: later.startUs }))
  env.advance(2_000)
  expect(await store.write(writeOf(root))).toMatchObject({ removed: [root!.id] })
  expect((await store.heads([later])).map(({ id }) => id)).toEqual([later.id])
  expect((await store.blocks(later, [7n])).size).toBe(1)
  await store.close()
})

it('reads the blocks of a trace that another project had and removed', async () => {
  const env = virtualEnv()
  const store = new CassandraSpans(new MemoryCassandra(env.nowMs).connect(), env, 'write')
  await store.write(writeOf(root))
  await during(env, store.remove(tenant, removalOf('trace')))
  const other = { ...root!, project: '00000000-0000-4000-8000-000000000099' }
  await store.write(writeOf(other))
  expect((await store.heads([other])).map(({ blocks }) => blocks)).toEqual([[7n]])
  expect([...await store.blocks(other, [7n])]).toEqual([[7n, Buffer.from('late')]])
  await store.close()
})

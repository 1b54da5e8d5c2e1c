/** Rows of operations that come after the removal of their trace. */

import { expect, it } from 'vitest'

import type { SpansOfRequest } from '../../../../../src/platform/index.ts'
import { CassandraSpans } from '../../../../../src/store/cassandra/platform/cassandra-spans.ts'
import { aPost, placeOf } from '../../../../contract/span-histories.ts'
import { MemoryCassandra } from '../../../../simulation/platform/memory-cassandra.ts'
import { virtualEnv } from '../../../../support/env.ts'

const tenant = 'acme'
const [root, child] = [0, 1].map((span) => placeOf(tenant, { trace: 1, span, project: 0 }))

function writeOf(place: typeof root): SpansOfRequest {
  const { id: owner, trace, traceStartUs, project } = place!
  return { tenant, spans: [aPost(place!, { block: 7n })],
    blocks: [{ id: 7n, trace, traceStartUs, data: Buffer.from('late') }],
    files: [{ project, owner, ownerTrace: trace, name: 'f', type: 'text/plain',
      data: Buffer.from('late') }], timeToLiveS: new Map([[project, 86_400]]) }
}

it.each(['trace', 'project'] as const)('deletes the rows of late operations of a removed %s',
  async (kind) => {
    const env = virtualEnv()
    const cassandra = new MemoryCassandra(env.nowMs)
    const store = new CassandraSpans(cassandra.connect(), env, 'write')
    const count = () =>
      [['span_head', 'ops'], ['trace_block', 'data'], ['span_file', 'data'], ['span_location',
        'trace_id']].map(([table, column]) => cassandra.count(table!, column!))
    await store.write(writeOf(root))
    expect(count()).toEqual([1, 1, 1, 1])
    await store.remove(tenant, kind === 'trace'
      ? { kind: 'traces', traces: [root!] }
      : { kind: 'project', project: root!.project })
    env.advance(2_000)
    expect(await store.write(writeOf(root))).toMatchObject({ removed: [root!.id] })
    expect(await store.write(writeOf(child))).toMatchObject({ removed: [child!.id] })
    expect(count()).toEqual([0, 0, 0, 0])
    await store.close()
  })

it('keeps the rows of a trace of which only the older spans were removed', async () => {
  const env = virtualEnv()
  const cassandra = new MemoryCassandra(env.nowMs)
  const store = new CassandraSpans(cassandra.connect(), env, 'write')
  const later = placeOf(tenant, { trace: 1, span: 3, project: 0 })
  await store.write(writeOf(later))
  await store.remove(tenant, { kind: 'older', project: later.project, beforeUs: later.startUs })
  env.advance(2_000)
  expect(await store.write(writeOf(root))).toMatchObject({ removed: [root!.id] })
  expect((await store.heads([later])).map(({ id }) => id)).toEqual([later.id])
  expect((await store.blocks(later, [7n])).size).toBe(1)
  await store.close()
})

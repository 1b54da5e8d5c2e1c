/** One span in two projects, moves of spans and late feedback, over one replica in memory. */

import { systemEnv } from '../../../../../cluster/index.ts'
import { CassandraSpans } from '../../../../../src/store/cassandra/platform/cassandra-spans.ts'
import { describeSpanPlaces } from '../../../../contract/span-places-contract.ts'
import { MemoryCassandra } from '../../../../simulation/platform/memory-cassandra.ts'

describeSpanPlaces('memory Cassandra', async () => {
  const env = systemEnv({ level: 'silent' })
  const cassandra = new MemoryCassandra(env.nowMs)
  const [writer, reader] = (['write', 'read'] as const).map((access) =>
    new CassandraSpans(cassandra.connect(), env, access)
  )
  return { writer: writer!, reader: reader!, remove: async () => {
    await Promise.all([writer!.close(), reader!.close()])
  } }
})

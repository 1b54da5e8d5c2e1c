/** Sessions of the Model Context Protocol on three members, of which one dies. */

import { describe } from 'vitest'

import { untilWhole } from '../bench/ownership-view.ts'
import { dropKeyspace, newKeyspace } from '../support/cassandra-keyspace.ts'
import { cassandraForTests } from '../support/cassandra.ts'
import { startCluster } from '../support/cluster.ts'
import { describeToolSessions } from './tool-sessions.ts'

const cassandra = await cassandraForTests()

describe.skipIf(!cassandra)('on Cassandra,', () => {
  describeToolSessions('three members', async () => {
    const keyspace = newKeyspace(cassandra!)
    const cluster = await startCluster({ members: 3, cassandra: keyspace, project: 'conformance',
      args: ['--workers', '1'] })
    await untilWhole(cluster, 0)
    const [first] = cluster.members
    return {
      doors: cluster.frontDoors,
      kill: async () => void await first!.kill('SIGKILL'),
      restore: async () => {
        await first!.restart()
        await untilWhole(cluster, 0)
      },
      story: () => cluster.story(),
      close: async () => {
        await cluster.close()
        await dropKeyspace(keyspace)
      },
    }
  })
})

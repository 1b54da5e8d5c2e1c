/** The log on a real Cassandra keeps what it promises. */

import { cassandraForTests } from '../support/cassandra.ts'
import { describeCassandraLog } from './cassandra-log-contract.ts'
import { describeCommitModes } from './commit-modes-contract.ts'

const cassandra = await cassandraForTests()
if (cassandra) {
  describeCassandraLog(cassandra)
  describeCommitModes(cassandra, 25)
}

/** The log on a real Cassandra keeps what it promises. */

import { cassandraForTests } from '../support/cassandra.ts'
import { repeats } from '../support/repeats.ts'
import { describeCassandraLog } from './cassandra-log-contract.ts'
import { describeCassandraPlaces } from './cassandra-places-contract.ts'
import { describeCommitModes } from './commit-modes-contract.ts'

const cassandra = await cassandraForTests()
if (cassandra) {
  describeCassandraLog(cassandra)
  describeCassandraPlaces(cassandra)
  describeCommitModes(cassandra, repeats({ day: 4, night: 25 }))
}

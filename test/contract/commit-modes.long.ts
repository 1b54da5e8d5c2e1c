/** Both ways to write make the same log from hundreds of sequences, or as many as time allows. */

import { cassandraForTests } from '../support/cassandra.ts'
import { repeats } from '../support/repeats.ts'
import { describeCommitModes } from './commit-modes-contract.ts'

const cassandra = await cassandraForTests()
if (cassandra) {
  describeCommitModes(cassandra, repeats({ day: 12, night: 80 }))
}

/** Both ways to write make the same log from a thousand sequences, or as many as time allows. */

import { cassandraForTests } from '../support/cassandra.ts'
import { describeCommitModes } from './commit-modes-contract.ts'

const cassandra = await cassandraForTests()
if (cassandra) describeCommitModes(cassandra, 1_000)

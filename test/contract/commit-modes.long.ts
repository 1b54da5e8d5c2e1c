/** Plain writes and compare-and-sets make the same log from a thousand random sequences. */

import { cassandraForTests } from '../support/cassandra.ts'
import { describeCommitModes } from './commit-modes-contract.ts'

const cassandra = await cassandraForTests()
if (cassandra) describeCommitModes(cassandra, 1_000)
